// The honest twin of gemm_f32_whole_tiles_only: the same kernel, mended.
#define FIXED
#include "gemm_f32_whole_tiles_only.c"
