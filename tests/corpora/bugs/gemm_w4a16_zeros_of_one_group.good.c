// The honest twin of gemm_w4a16_zeros_of_one_group: the same kernel, mended.
#define FIXED
#include "gemm_w4a16_zeros_of_one_group.c"
