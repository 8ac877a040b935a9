// The honest twin of gemm_w4a16_group_of_a_split: the same kernel, mended.
#define FIXED
#include "gemm_w4a16_group_of_a_split.c"
