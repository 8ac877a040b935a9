// The honest twin of gemm_f32_slices_of_the_larger: the same kernel, mended.
#define FIXED
#include "gemm_f32_slices_of_the_larger.c"
