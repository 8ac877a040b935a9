// The honest twin of gemm_w4a16_bound_of_packed_rows: the same kernel, mended.
#define FIXED
#include "gemm_w4a16_bound_of_packed_rows.c"
