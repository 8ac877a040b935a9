// The honest twin of conv2d_bf16_stride_of_one_pixel: the same kernel, mended.
#define FIXED
#include "conv2d_bf16_stride_of_one_pixel.c"
