/* What the plain products gemm_bf16 and gemm_f32 have in common: axes, shapes and input classes. The
 * mathematics is in problems/gemm_reference.h. */
#ifndef UNSEEN_GEMM_H
#define UNSEEN_GEMM_H

#include "problem.h"

extern const struct axis gemm_axes[];
extern const struct argument gemm_arguments[];

/* In fp32 the integers have long ones among them, and `special` has no infinities besides NaN. */
extern const struct input_class gemm_classes[];

/* c[m,n] = sum_k a[m,k] b[k,n], b stored as [k,n], or [n,k] when trans_b = 1; all tensors of one type, bf16 or fp32. */
int gemm_instantiate(const struct config *config, struct random *shape_random, struct random *content_random,
                     struct instance *out);

#endif
