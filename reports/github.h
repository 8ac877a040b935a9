/* Annotations of a workflow run on GitHub. */
#ifndef UNSEEN_GITHUB_H
#define UNSEEN_GITHUB_H

#include "result.h"

/* Nothing that is printed in between is read as a command, whoever chose the words: a candidate's may begin with "::".
 * `token` is what ends it, which the candidate must not know. */
void github_quiet(FILE *out, const char *token);
void github_speak(FILE *out, const char *token);

/* The verdict at the candidate's file, and at most 8 failures, one of every outcome first. */
void github_print(FILE *out, const struct result *result);

#endif
