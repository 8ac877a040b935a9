// The honest twin of gemm_f32_workspace_of_whole_rows: the same kernel, mended.
#define FIXED
#include "gemm_f32_workspace_of_whole_rows.c"
