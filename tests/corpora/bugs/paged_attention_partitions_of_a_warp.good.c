// The honest twin of paged_attention_partitions_of_a_warp: the same kernel, mended.
#define FIXED
#include "paged_attention_partitions_of_a_warp.c"
