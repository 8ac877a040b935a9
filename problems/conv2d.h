/* Axes, shapes and input classes that conv2d_bf16 and conv2d_f32 share. The mathematics is in
 * problems/conv2d_reference.h. */
#ifndef UNSEEN_CONV2D_H
#define UNSEEN_CONV2D_H

#include "problem.h"

extern const struct axis conv2d_axes[];
extern const struct argument conv2d_arguments[];

/* oh and ow, the extents of y. */
extern const struct derived conv2d_derived[];

/* In fp32 the integer classes include long integers. In fp32, `special` has NaN but no infinities, and no
 * special values if Winograd's transforms are admitted. */
extern const struct input_class conv2d_classes[];

/* x [n, c, h, w], weight [o, c / groups, kh, kw] and y [n, o, oh, ow] have one dtype, bf16 or fp32; bias [o]
 * is fp32. */
int conv2d_instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out);

#endif
