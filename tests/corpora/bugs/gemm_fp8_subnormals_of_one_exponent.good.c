// The honest twin of gemm_fp8_subnormals_of_one_exponent: the same kernel, mended.
#define FIXED
#include "gemm_fp8_subnormals_of_one_exponent.c"
