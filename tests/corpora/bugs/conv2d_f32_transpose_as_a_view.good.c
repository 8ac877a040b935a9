// The honest twin of conv2d_f32_transpose_as_a_view: the same kernel, mended.
#define FIXED
#include "conv2d_f32_transpose_as_a_view.c"
