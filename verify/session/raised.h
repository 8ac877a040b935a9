/* Compares Python exceptions that a module raises. */
#ifndef UNSEEN_RAISED_H
#define UNSEEN_RAISED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/record/result.h"

/* Is this the result of an exception? */
bool raised_error(const struct config_result *result);

/* Its type and the candidate's line, "raised ValueError (line 12)"; omits the message, which may contain
 * sizes. */
void raised_words(const struct config_result *result, char *text, size_t text_size);

/* A hash of that text. */
uint64_t raised_kind(const struct config_result *result);

#endif
