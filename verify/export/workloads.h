/* One configuration in the words of benchmarks that take lists of them: FlashInfer-Bench and gpu-mode. */
#ifndef UNSEEN_EXPORT_WORKLOADS_H
#define UNSEEN_EXPORT_WORKLOADS_H

#include <jansson.h>
#include <stdio.h>

#include "problems/problem.h"

/* The sizes of a configuration: number axis by number axis. NULL when out of memory. */
json_t *workload_sizes(const struct config *config);

/* Do they differ in nothing but seed and choices? They are one shape where inputs are not described. */
bool workload_same_sizes(const struct config *a, const struct config *b);

/* A line of FlashInfer-Bench's JSONL; takes `inputs` (by name) over. The same configuration has the same `uuid`. */
void workload_write(FILE *out, const char *definition, const struct config *config, json_t *inputs);

/* A line of gpu-mode's test lists; `input` is the class that inputs are drawn from, NULL: the configuration's own. */
void workload_write_test(FILE *out, const struct config *config, const char *input);

/* A name as gpu-mode's lists have it: letters alone, digits as A to J. */
void workload_letters(char *out, size_t size, const char *name);

#endif
