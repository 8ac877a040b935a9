// The honest twin of gemm_w4a16_scales_of_the_wide_tile: the same kernel, mended.
#define FIXED
#include "gemm_w4a16_scales_of_the_wide_tile.c"
