// The honest twin of gemm_bf16_tail_of_a_later_tile: the same kernel, mended.
#define FIXED
#include "gemm_bf16_tail_of_a_later_tile.c"
