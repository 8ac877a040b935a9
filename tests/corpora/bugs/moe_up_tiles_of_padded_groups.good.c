// The honest twin of moe_up_tiles_of_padded_groups: the same kernel, mended.
#define FIXED
#include "moe_up_tiles_of_padded_groups.c"
