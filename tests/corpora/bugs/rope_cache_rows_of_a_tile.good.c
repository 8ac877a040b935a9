// The honest twin of rope_cache_rows_of_a_tile: the same kernel, mended.
#define FIXED
#include "rope_cache_rows_of_a_tile.c"
