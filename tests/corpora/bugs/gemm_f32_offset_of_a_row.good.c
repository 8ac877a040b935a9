// The honest twin of gemm_f32_offset_of_a_row: the same kernel, mended.
#define FIXED
#include "gemm_f32_offset_of_a_row.c"
