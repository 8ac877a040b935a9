// The honest twin of gemm_bf16_hot_loop_of_three: the same kernel, mended.
#define FIXED
#include "gemm_bf16_hot_loop_of_three.c"
