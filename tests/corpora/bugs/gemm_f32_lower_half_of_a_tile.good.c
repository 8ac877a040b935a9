// The honest twin of gemm_f32_lower_half_of_a_tile: the same kernel, mended.
#define FIXED
#include "gemm_f32_lower_half_of_a_tile.c"
