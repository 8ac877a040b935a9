// The honest twin of conv2d_bf16_weights_behind_the_last_vector: the same kernel, mended.
#define FIXED
#include "conv2d_bf16_weights_behind_the_last_vector.c"
