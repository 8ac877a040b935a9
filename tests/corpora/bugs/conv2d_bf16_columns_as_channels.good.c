// The honest twin of conv2d_bf16_columns_as_channels: the same kernel, mended.
#define FIXED
#include "conv2d_bf16_columns_as_channels.c"
