// The honest twin of kda_offset_of_a_chunk: the same kernel, mended.
#define FIXED
#include "kda_offset_of_a_chunk.c"
