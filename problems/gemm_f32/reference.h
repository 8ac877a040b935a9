/* gemm_f32, the mathematics: c[m,n] = sum_k a[m,k] b[k,n]. */

#define GEMM_LOAD REF_F32
/* Three-term TF32, x = big + small + rest, leaves out small small and rest times the other. Where both parts are cut
 * at 11 bits, as matrix units do with the bits of a single, |small| < 2^-10 |x| and |rest| < 2^-21 |x|, together
 * 2^-20 + 2 2^-21 of |p| (big cut, small rounded: 3/4 of that; both rounded: 1/4). */
#define GEMM_PRODUCT_ERROR 0x1p-19
#include "problems/gemm_reference.h"
