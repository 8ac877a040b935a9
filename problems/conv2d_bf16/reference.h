/* conv2d_bf16, the mathematics: a grouped convolution with a bias. */

#define CONV_LOAD REF_BF16
#define CONV_PRODUCT_ERROR 0
#define CONV_ROUNDS_SUM 1
#define CONV_TRANSFORMS 0
#include "problems/conv2d_reference.h"
