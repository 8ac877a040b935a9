/* gemm_f32, the mathematics: c[m,n] = sum_k a[m,k] b[k,n]. */

#define GEMM_LOAD REF_F32
/* Three-term TF32, x = big + small + rest, omits small small and the products with rest. If both parts are
 * truncated to 11 bits, as matrix units do with fp32 bits, |small| < 2^-10 |x| and |rest| < 2^-21 |x|.
 * Together that is 2^-20 + 2 2^-21 of |p|. With big truncated and small rounded it is 3/4 of that; with both
 * rounded 1/4. */
#define GEMM_PRODUCT_ERROR 0x1p-19
#include "problems/gemm_reference.h"
