// The honest twin of conv2d_bf16_pairs_of_columns: the same kernel, mended.
#define FIXED
#include "conv2d_bf16_pairs_of_columns.c"
