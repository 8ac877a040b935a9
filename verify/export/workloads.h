/* Writes one configuration for benchmarks that take lists of shapes: FlashInfer-Bench and gpu-mode. */
#ifndef UNSEEN_EXPORT_WORKLOADS_H
#define UNSEEN_EXPORT_WORKLOADS_H

#include <jansson.h>
#include <stdio.h>

#include "problems/problem.h"

/* The sizes of a configuration, by numeric axis. NULL when out of memory. */
json_t *workload_sizes(const struct config *config);

/* Do they differ only in seed and choices? They are one shape if inputs are not described. */
bool workload_same_sizes(const struct config *a, const struct config *b);

/* Writes a line of FlashInfer-Bench's JSONL, and takes ownership of `inputs` (by name). Equal configurations
 * have equal `uuid`s. */
void workload_write(FILE *out, const char *definition, const struct config *config, json_t *inputs);

/* Writes a line of gpu-mode's test lists; `input` is the input class, NULL: the configuration's own. */
void workload_write_test(FILE *out, const struct config *config, const char *input);

/* Converts a name to gpu-mode's form: letters only, digits as A to J. */
void workload_letters(char *out, size_t size, const char *name);

#endif
