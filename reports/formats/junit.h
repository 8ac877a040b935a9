/* JUnit XML, which continuous integration shows as a list of tests. */
#ifndef UNSEEN_JUNIT_H
#define UNSEEN_JUNIT_H

#include "reports/record/result.h"

/* Prints three suites per result. The first has the verdict as a test case, so that a run is not green if all
 * configurations pass and the verdict is not general. The other two are both sets, with a test case per
 * configuration. A rejected configuration is a failure with its reproduction command; a skipped one is
 * skipped. */
void junit_print(FILE *out, const struct result *const *results, int count);

#endif
