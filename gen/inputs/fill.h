/* Filling input tensors: the same bits on the host and on the GPU, and again from the line alone. */
#ifndef UNSEEN_FILL_TENSORS_H
#define UNSEEN_FILL_TENSORS_H

#include "problems/problem.h"
#include "gen/random/philox.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Key of one tensor of one content of a configuration. */
struct philox_key fill_key(const struct problem *problem, uint64_t seed, int content, int tensor);

/* Fill `tensor` (an input) of the instance at `out`, which has room for all its memory; gaps between rows stay as they
 * are. On the host all cores are used. */
void fill_host(const struct problem *problem, const struct instance *instance, int tensor, uint64_t seed,
               int content, void *out);

/* The values of a FILL_GIVEN in the tensor's own type, dense, in host memory. */
void fill_given(const struct fill *fill, enum dtype dtype, int64_t count, void *out);

/* Element i of a tensor in host memory, rounded to its type like every input. */
void fill_store(enum dtype dtype, void *out, int64_t i, float value);

/* Elements after which a fill's law repeats: turned by a multiple of it the values are drawn like before. 1: every
 * element is drawn alike; 0: by its place in the whole tensor. */
int64_t fill_period(const struct fill *fill);

/* Does element i mean anything? False for storage that no defined element uses. */
bool fill_is_real(const struct fill *fill, int64_t i);

/* The same as fill_host in device memory; returns 0, or a cudaError_t. Asynchronous on the null stream but for the
 * tables it uploads. */
int fill_cuda(const struct problem *problem, const struct instance *instance, int tensor, uint64_t seed,
              int content, void *out);

#ifdef __cplusplus
}
#endif

#endif
