/* Text formatting shared by the writers. */
#ifndef UNSEEN_TEXT_H
#define UNSEEN_TEXT_H

#include "result.h"

enum { TEXT_WIDTH = 80, TEXT_LEAST_WIDTH = 24, TEXT_NUMBER_SIZE = 32 };

/* Columns at which sentences are wrapped: TEXT_WIDTH by default, or the terminal's width. */
int text_width(void);
void text_set_width(int columns); /* at least TEXT_LEAST_WIDTH */
/* Width of the terminal at `descriptor`: the variable COLUMNS if set, else the terminal's own width, else
 * TEXT_WIDTH. */
int text_columns(int descriptor);

/* Returns `text`, or `otherwise` if it is NULL or empty. */
const char *text_or(const char *text, const char *otherwise);
/* Prints plain ASCII. Other bytes and control characters become '?', since a candidate's messages must not
 * control the terminal. A line break becomes a blank. */
void text_plain(FILE *out, const char *text);
/* Like text_plain, wrapped between words at text_width(), and ends the line. `column` is the cursor's column;
 * further lines are indented by `indent`. */
void text_wrap(FILE *out, int column, int indent, const char *text);
/* Prints one shell word, quoted only if needed. */
void text_shell(FILE *out, const char *word);
/* Formats a number with `digits` significant digits, or "nan", "inf", "-inf" (never "-nan"). */
const char *text_number(char buffer[TEXT_NUMBER_SIZE], double value, int digits);
/* "y[3,4098] got 0.1 want 0.2 allowed 1e-07 (error 1e+06 x allowed, MPFR witness)" */
void text_element(char *buffer, size_t size, const struct worst *worst);
/* "y[3,4098] is 0.1; 0.2 was expected (allowed error 1e-07)" */
void text_element_plain(char *buffer, size_t size, const struct worst *worst);

#endif
