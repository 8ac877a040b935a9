// The honest twin of conv2d_f32_extent_of_a_dilated_filter: the same kernel, mended.
#define FIXED
#include "conv2d_f32_extent_of_a_dilated_filter.c"
