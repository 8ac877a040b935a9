/* Single elements of a task's graph in MPFR: a second evaluation, which shares nothing with the first but the graph. The
 * graph comes as primitive operations on numbered elements (verify/python/oracle/lowered.py); it is asked from the result
 * backwards, so an element costs what it depends on. */
#ifndef UNSEEN_EXACT_H
#define UNSEEN_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exact;

/* `memory` holds numbers (`numbers` bytes), then JSON (`text` bytes); it must outlive the graph. Everything in it is checked.
 * NULL and why: it is malformed, or memory is out. */
struct exact *exact_open(const char *memory, size_t numbers, size_t text, char *why, size_t size);
void exact_close(struct exact *exact);

/* Element `index` of output number `output`. False and why: there is none (the output is of whole numbers, or out of range),
 * or it takes more than EXACT_TERMS terms. */
enum { EXACT_TERMS = 20000000, EXACT_BITS = 192 };
bool exact_element(struct exact *exact, int output, int64_t index, double *value, char *why, size_t size);

#endif
