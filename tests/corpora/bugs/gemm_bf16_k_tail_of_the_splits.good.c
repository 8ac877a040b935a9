// The honest twin of gemm_bf16_k_tail_of_the_splits: the same kernel, mended.
#define FIXED
#include "gemm_bf16_k_tail_of_the_splits.c"
