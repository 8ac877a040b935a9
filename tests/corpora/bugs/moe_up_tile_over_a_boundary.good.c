// The honest twin of moe_up_tile_over_a_boundary: the same kernel, mended.
#define FIXED
#include "moe_up_tile_over_a_boundary.c"
