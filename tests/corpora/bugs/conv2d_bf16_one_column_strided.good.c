// The honest twin of conv2d_bf16_one_column_strided: the same kernel, mended.
#define FIXED
#include "conv2d_bf16_one_column_strided.c"
