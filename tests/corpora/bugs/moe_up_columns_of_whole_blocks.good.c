// The honest twin of moe_up_columns_of_whole_blocks: the same kernel, mended.
#define FIXED
#include "moe_up_columns_of_whole_blocks.c"
