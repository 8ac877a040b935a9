/* Filling input tensors: bit-identical on host and GPU, and reproducible from the configuration line. */
#ifndef UNSEEN_FILL_TENSORS_H
#define UNSEEN_FILL_TENSORS_H

#include "problems/problem.h"
#include "gen/random/philox.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Random key of one tensor in one input draw of a configuration. */
struct philox_key fill_key(const struct problem *problem, uint64_t seed, int content, int tensor);

/* Fills the input `tensor` of the instance at `out`, which has room for all of its memory. Padding between
 * rows is not written. Uses all cores of the host. */
void fill_host(const struct problem *problem, const struct instance *instance, int tensor, uint64_t seed,
               int content, void *out);

/* Writes the values of a FILL_GIVEN, densely and in the tensor's dtype, to host memory. */
void fill_given(const struct fill *fill, enum dtype dtype, int64_t count, void *out);

/* Stores element i of a tensor in host memory, rounded to its dtype like every input. */
void fill_store(enum dtype dtype, void *out, int64_t i, float value);

/* The period of a fill's distribution, in elements: a shift by a multiple keeps the distribution. If it is 1,
 * all elements have the same distribution. If it is 0, the distribution depends on the position in the whole
 * tensor. */
int64_t fill_period(const struct fill *fill);

/* Is element i defined? False for storage outside the valid part of a tensor. */
bool fill_is_real(const struct fill *fill, int64_t i);

/* Like fill_host in device memory. Returns 0, or a cudaError_t. Asynchronous on the null stream, except for
 * uploading its tables. */
int fill_cuda(const struct problem *problem, const struct instance *instance, int tensor, uint64_t seed,
              int content, void *out);

#ifdef __cplusplus
}
#endif

#endif
