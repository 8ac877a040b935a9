/* Pieces of text that the writers share. */
#ifndef UNSEEN_TEXT_H
#define UNSEEN_TEXT_H

#include "result.h"

enum { TEXT_WIDTH = 80, TEXT_LEAST_WIDTH = 24, TEXT_NUMBER_SIZE = 32 };

/* The columns that sentences are broken at: TEXT_WIDTH, or what the terminal in hand has. */
int text_width(void);
void text_set_width(int columns); /* below TEXT_LEAST_WIDTH: that */
/* Columns of what is behind `descriptor`: COLUMNS where it is set, else the terminal's, else TEXT_WIDTH. */
int text_columns(int descriptor);

/* `text`, or `otherwise` when it is NULL or empty. */
const char *text_or(const char *text, const char *otherwise);
/* Plain ASCII: any other byte, and every control character, as '?'; a candidate's words must not drive
 * the terminal. A line break reads as a blank. */
void text_plain(FILE *out, const char *text);
/* The same, broken between words at text_width(); `column` is where the cursor stands, further lines are
 * indented by `indent`. Ends the line. */
void text_wrap(FILE *out, int column, int indent, const char *text);
/* One shell word, quoted only where needed. */
void text_shell(FILE *out, const char *word);
/* A number with `digits` significant digits, or "nan", "inf", "-inf" (never "-nan"). */
const char *text_number(char buffer[TEXT_NUMBER_SIZE], double value, int digits);
/* "y[3,4098] got 0.1 want 0.2 allowed 1e-07 (error 1e+06 x allowed, MPFR witness)" */
void text_element(char *buffer, size_t size, const struct worst *worst);
/* "y[3,4098] is 0.1; 0.2 was expected (allowed error 1e-07)" */
void text_element_plain(char *buffer, size_t size, const struct worst *worst);

#endif
