// The honest twin of gemm_w4a16_scale_of_a_tile: the same kernel, mended.
#define FIXED
#include "gemm_w4a16_scale_of_a_tile.c"
