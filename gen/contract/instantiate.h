/* The only way to turn a configuration into its instance. The random streams it draws from are part of the
 * meaning of a configuration line, so all parts of the tool use it. */
#ifndef UNSEEN_INSTANTIATE_H
#define UNSEEN_INSTANTIATE_H

#include "problems/problem.h"

/* Creates the instance of `config` with input draw number `content`, from the streams "PROBLEM/shape" and
 * "PROBLEM/content/N" of the configuration's seed. The caller owns *out: instance_clear(). Returns 0, or -1
 * when out of memory, with *out empty. */
int config_instantiate(const struct config *config, int content, struct instance *out);

/* The same without input values: extents, shapes, flops and bytes only. */
int config_measure(const struct config *config, struct instance *out);

/* Every check runs input draws 0 and 1 (verify/session/check_calls.c). */
enum { CHECKED_CONTENTS = 2 };

/* Value of the problem's derived size `index`, over the checked input draws; 0 when out of memory. */
int64_t config_derived(const struct config *config, int index);

/* Bytes of all tensors of one input draw, inputs and outputs. */
double instance_total_bytes(const struct problem *problem, const struct instance *instance);

#endif
