// The honest twin of gemm_f32_rows_after_the_eighth: the same kernel, mended.
#define FIXED
#include "gemm_f32_rows_after_the_eighth.c"
