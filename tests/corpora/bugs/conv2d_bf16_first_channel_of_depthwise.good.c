// The honest twin of conv2d_bf16_first_channel_of_depthwise: the same kernel, mended.
#define FIXED
#include "conv2d_bf16_first_channel_of_depthwise.c"
