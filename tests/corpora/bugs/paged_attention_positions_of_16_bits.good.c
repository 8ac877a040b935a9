// The honest twin of paged_attention_positions_of_16_bits: the same kernel, mended.
#define FIXED
#include "paged_attention_positions_of_16_bits.c"
