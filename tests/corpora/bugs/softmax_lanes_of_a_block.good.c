// The honest twin of softmax_lanes_of_a_block: the same kernel, mended.
#define FIXED
#include "softmax_lanes_of_a_block.c"
