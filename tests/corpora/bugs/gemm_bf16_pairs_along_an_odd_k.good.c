// The honest twin of gemm_bf16_pairs_along_an_odd_k: the same kernel, mended.
#define FIXED
#include "gemm_bf16_pairs_along_an_odd_k.c"
