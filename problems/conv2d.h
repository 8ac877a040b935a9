/* What the convolutions conv2d_bf16 and conv2d_f32 have in common: axes, shapes and input classes. The mathematics is in
 * problems/conv2d_reference.h. */
#ifndef UNSEEN_CONV2D_H
#define UNSEEN_CONV2D_H

#include "problem.h"

extern const struct axis conv2d_axes[];
extern const struct argument conv2d_arguments[];

/* oh and ow, the extents of y. */
extern const struct derived conv2d_derived[];

/* In fp32 the integers have long ones among them, and `special` has no infinities besides NaN, and nothing special
 * where Winograd's transforms are admitted. */
extern const struct input_class conv2d_classes[];

/* x [n, c, h, w], weight [o, c / groups, kh, kw] and y [n, o, oh, ow] of one type, bf16 or fp32; bias [o] is fp32. */
int conv2d_instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out);

#endif
