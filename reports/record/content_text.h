/* Sentences about the input values that cause a failure. */
#ifndef UNSEEN_CONTENT_TEXT_H
#define UNSEEN_CONTENT_TEXT_H

#include "result.h"
#include "summary.h"

/* "least", "some", "many", "structure" */
const char *content_kind_name(enum result_content_kind kind);

/* "with those of seed=7 it passes, and fails as soon as x[0,4] is 61.3 in the place of -0.12 (1 of 5
 * elements)". The distinguishing property of these values is in `special`. Returns false if nothing is
 * known. */
bool content_text(char text[SUMMARY_SIZE], const struct diagnosis *d);

/* Prints the command that reproduces the failure, ready to paste. Returns false if there is none. */
bool content_command(FILE *out, const struct result *result);

#endif
