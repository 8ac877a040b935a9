// The honest twin of gemm_bf16_panels_of_sixteen: the same kernel, mended.
#define FIXED
#include "gemm_bf16_panels_of_sixteen.c"
