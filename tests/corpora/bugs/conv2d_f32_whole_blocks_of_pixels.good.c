// The honest twin of conv2d_f32_whole_blocks_of_pixels: the same kernel, mended.
#define FIXED
#include "conv2d_f32_whole_blocks_of_pixels.c"
