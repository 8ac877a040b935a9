// The honest twin of gemm_bf16_widths_of_a_matrix_unit: the same kernel, mended.
#define FIXED
#include "gemm_bf16_widths_of_a_matrix_unit.c"
