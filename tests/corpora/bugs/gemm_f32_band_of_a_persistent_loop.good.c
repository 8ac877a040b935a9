// The honest twin of gemm_f32_band_of_a_persistent_loop: the same kernel, mended.
#define FIXED
#include "gemm_f32_band_of_a_persistent_loop.c"
