// The honest twin of conv2d_f32_image_of_one_column: the same kernel, mended.
#define FIXED
#include "conv2d_f32_image_of_one_column.c"
