// The honest twin of gemm_bf16_partials_of_a_long_k: the same kernel, mended.
#define FIXED
#include "gemm_bf16_partials_of_a_long_k.c"
