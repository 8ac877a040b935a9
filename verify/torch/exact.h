/* Evaluates single elements of a task's graph in MPFR. It is a second evaluation that shares only the graph
 * with the first. The graph consists of primitive operations on numbered elements
 * (unseen_torch/oracle/ir.py). It is evaluated backwards from the result, so an element costs only the
 * work that it depends on. */
#ifndef UNSEEN_EXACT_H
#define UNSEEN_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exact;

/* Reads a graph from `memory`: `numbers` bytes of numbers, then `text` bytes of JSON. The memory must outlive
 * the graph. Everything in it is checked. NULL: malformed, or out of memory; `why` says which. */
struct exact *exact_open(const char *memory, size_t numbers, size_t text, char *why, size_t size);
void exact_close(struct exact *exact);

/* Computes element `index` of output number `output`. False: the output has whole numbers, the index is out
 * of range, or the element takes more than EXACT_TERMS terms; `why` says which. */
enum { EXACT_TERMS = 20000000, EXACT_BITS = 192 };
bool exact_element(struct exact *exact, int output, int64_t index, double *value, char *why, size_t size);

#endif
