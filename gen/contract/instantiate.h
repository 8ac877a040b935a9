/* The one way from a configuration to its instance: which streams it draws from is part of what a
 * configuration line means, so everybody makes instances here. */
#ifndef UNSEEN_INSTANTIATE_H
#define UNSEEN_INSTANTIATE_H

#include "problems/problem.h"

/* Instance of `config` with fresh contents number `content`, from the streams "PROBLEM/shape" and
 * "PROBLEM/content/N" of the configuration's seed. The caller owns *out: instance_clear(). Returns 0,
 * or -1 when out of memory, with *out empty. */
int config_instantiate(const struct config *config, int content, struct instance *out);

/* The same without contents: extents, shapes, flops and bytes alone. */
int config_measure(const struct config *config, struct instance *out);

/* Contents 0 and 1 are what every check runs (verify/session_check.c). */
enum { CHECKED_CONTENTS = 2 };

/* Entry `index` of the problem's derived sizes, over the checked contents; 0 when out of memory. */
int64_t config_derived(const struct config *config, int index);

/* Bytes of all tensors of one content, inputs and outputs. */
double instance_total_bytes(const struct problem *problem, const struct instance *instance);

#endif
