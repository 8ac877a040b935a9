/* gemm_f32, the mathematics: c[m,n] = sum_k a[m,k] b[k,n]. */

#define GEMM_LOAD REF_F32
#define GEMM_PRODUCT_ERROR 0x1p-21
#include "../gemm_reference.h"
