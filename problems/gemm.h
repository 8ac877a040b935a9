/* What the plain products gemm_bf16 and gemm_f32 have in common: axes, shapes and input classes. The
 * mathematics is in problems/gemm_reference.h. */
#ifndef UNSEEN_GEMM_H
#define UNSEEN_GEMM_H

#include "problem.h"

extern const struct axis gemm_f32_axes[], gemm_bf16_axes[]; /* alike but for their input classes */
extern const char *const gemm_extents[];

/* c[m,n] = sum_k a[m,k] b[k,n], b stored as [k,n], or [n,k] when trans_b = 1; `size` bytes an element.
 * `infinities`: the class `special` has them besides NaN. */
int gemm_instantiate(const struct config *config, struct random *random, double size, bool infinities,
                     struct instance *out);

#endif
