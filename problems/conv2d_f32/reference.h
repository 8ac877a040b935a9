/* conv2d_f32, the mathematics: a grouped convolution with a bias. */

#define CONV_LOAD REF_F32
/* Three-term TF32, as in gemm_f32. */
#define CONV_PRODUCT_ERROR 0x1p-19
#define CONV_ROUNDS_SUM 0
#define CONV_TRANSFORMS 1
#include "problems/conv2d_reference.h"
