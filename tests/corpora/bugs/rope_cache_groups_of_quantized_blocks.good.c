// The honest twin of rope_cache_groups_of_quantized_blocks: the same kernel, mended.
#define FIXED
#include "rope_cache_groups_of_quantized_blocks.c"
