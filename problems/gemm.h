/* Axes, shapes and input classes that gemm_bf16 and gemm_f32 share. The mathematics is in
 * problems/gemm_reference.h. */
#ifndef UNSEEN_GEMM_H
#define UNSEEN_GEMM_H

#include "problem.h"

extern const struct axis gemm_axes[];
extern const struct argument gemm_arguments[];

/* In fp32 the integer classes include long integers, and `special` has NaN but no infinities. */
extern const struct input_class gemm_classes[];

/* c[m,n] = sum_k a[m,k] b[k,n]; b is stored as [k,n], or [n,k] if trans_b = 1. All tensors have one dtype,
 * bf16 or fp32. */
int gemm_instantiate(const struct config *config, struct random *shape_random, struct random *content_random,
                     struct instance *out);

#endif
