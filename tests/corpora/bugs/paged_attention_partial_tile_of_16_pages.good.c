// The honest twin of paged_attention_partial_tile_of_16_pages: the same kernel, mended.
#define FIXED
#include "paged_attention_partial_tile_of_16_pages.c"
