// The honest twin of conv2d_f32_strips_past_the_filters: the same kernel, mended.
#define FIXED
#include "conv2d_f32_strips_past_the_filters.c"
