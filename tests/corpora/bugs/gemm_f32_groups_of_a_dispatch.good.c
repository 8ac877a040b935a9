// The honest twin of gemm_f32_groups_of_a_dispatch: the same kernel, mended.
#define FIXED
#include "gemm_f32_groups_of_a_dispatch.c"
