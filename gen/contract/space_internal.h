/* Shared by the readers of .space, .seen and .regress files: lines, words, numbers, error texts. */
#ifndef UNSEEN_SPACE_INTERNAL_H
#define UNSEEN_SPACE_INTERNAL_H

#include "space.h"

/* Calls `handle` for every line that is not empty after its comment is cut off, with both; `where` is
 * "FILE:LINE". Stops at the first nonzero return and returns it. A missing file is an error unless
 * `optional`. */
typedef int line_handler(void *state, const char *line, const char *comment, const char *where,
                         struct space_error *error);
int lines_each(const char *path, bool optional, line_handler *handle, void *state, struct space_error *error);

const char *text_skip(const char *p); /* skips blanks */

/* Reads "4096" or "2^12" at *p and moves past it. Returns false and leaves *p if there is no number or it
 * exceeds 2^63 - 1. */
bool read_number(const char **p, int64_t *number);

enum { WORD_SIZE = 64 };
/* Reads a name (letters, digits, '_', '-') at *p and moves past it. Returns false and leaves *p if there is
 * none, or it is longer than any name of the tool. */
bool text_word(const char **p, char word[WORD_SIZE]);

/* Lists "rows, cols, input" or "normal, wide" for error texts, truncated to fit. */
void axis_names(const struct problem *problem, char *text, size_t size);
void choice_names(const struct problem *problem, int axis, char *text, size_t size);

/* Writes " (did you mean 'rows'?)" or an empty text. Returns `text`. */
const char *suggest_axis(const struct problem *problem, const char *word, char *text, size_t size);
const char *suggest_choice(const struct problem *problem, int axis, const char *word, char *text,
                           size_t size);

#endif
