/* JUnit XML: what continuous integration shows as a list of tests. */
#ifndef UNSEEN_JUNIT_H
#define UNSEEN_JUNIT_H

#include "result.h"

/* For each result three suites: the verdict as one test case, so that a run whose configurations all pass and whose verdict is
 * not general does not look green; both sets with a test case for each configuration. What is rejected is a failure with its
 * reproduction line, what was skipped is skipped. */
void junit_print(FILE *out, const struct result *const *results, int count);

#endif
