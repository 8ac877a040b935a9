// The honest twin of gemm_bf16_group_of_tiles: the same kernel, mended.
#define FIXED
#include "gemm_bf16_group_of_tiles.c"
