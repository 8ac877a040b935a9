/* What a candidate is declared as. */
#ifndef UNSEEN_HEADER_H
#define UNSEEN_HEADER_H

#include <stdio.h>

#include "problems/problem.h"

/* One header for C on the host and CUDA C++: there the formats are CUDA's own types. */
void header_write(FILE *out, const struct problem *problem);
/* The declaration alone; `stream` is the type of the last parameter. */
void header_prototype(FILE *out, const struct problem *problem, const char *stream);
/* Text broken at blanks so that no line is much above 90 columns. */
void header_folded(FILE *out, const char *indent, const char *text);

#endif
