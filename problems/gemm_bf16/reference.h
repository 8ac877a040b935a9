/* gemm_bf16, the mathematics: c[m,n] = sum_k a[m,k] b[k,n]. */

#define GEMM_LOAD REF_BF16
#define GEMM_PRODUCT_ERROR 0
#include "problems/gemm_reference.h"
