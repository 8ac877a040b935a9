// The honest twin of conv2d_f32_workgroups_of_a_square: the same kernel, mended.
#define FIXED
#include "conv2d_f32_workgroups_of_a_square.c"
