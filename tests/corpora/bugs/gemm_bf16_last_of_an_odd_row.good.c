// The honest twin of gemm_bf16_last_of_an_odd_row: the same kernel, mended.
#define FIXED
#include "gemm_bf16_last_of_an_odd_row.c"
