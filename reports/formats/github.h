/* Annotations of a GitHub workflow run. */
#ifndef UNSEEN_GITHUB_H
#define UNSEEN_GITHUB_H

#include "reports/record/result.h"

/* Between these calls GitHub interprets no output as a workflow command, even if the candidate prints lines
 * that begin with "::". `token` ends the quiet section, so the candidate must not know it. */
void github_quiet(FILE *out, const char *token);
void github_speak(FILE *out, const char *token);

/* Prints the verdict at the candidate's file and at most 8 failures, at first one of every outcome. */
void github_print(FILE *out, const struct result *result);

#endif
