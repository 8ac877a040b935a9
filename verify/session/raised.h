/* Errors that a module raises, told apart. */
#ifndef UNSEEN_RAISED_H
#define UNSEEN_RAISED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/result.h"

/* Is this the result of an error that was raised? */
bool raised_error(const struct config_result *result);

/* Its type and the candidate's line, "raised ValueError (line 12)": the words between, which it leaves out, may name sizes. */
void raised_words(const struct config_result *result, char *text, size_t text_size);

/* Equal where these are. */
uint64_t raised_kind(const struct config_result *result);

#endif
