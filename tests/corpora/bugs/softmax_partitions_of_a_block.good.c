// The honest twin of softmax_partitions_of_a_block: the same kernel, mended.
#define FIXED
#include "softmax_partitions_of_a_block.c"
