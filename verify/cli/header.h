/* The C declaration of a candidate. */
#ifndef UNSEEN_HEADER_H
#define UNSEEN_HEADER_H

#include <stdio.h>

#include "problems/problem.h"

/* Writes a header for C on the host and CUDA C++, where the formats are CUDA's own types. */
void header_write(FILE *out, const struct problem *problem);
/* Writes only the declaration; `stream` is the type of the last parameter. */
void header_prototype(FILE *out, const struct problem *problem, const char *stream);
/* Writes text wrapped at blanks, with lines of about 90 columns at most. */
void header_folded(FILE *out, const char *indent, const char *text);

#endif
