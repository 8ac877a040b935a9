// The honest twin of conv2d_f32_tiles_after_a_four: the same kernel, mended.
#define FIXED
#include "conv2d_f32_tiles_after_a_four.c"
