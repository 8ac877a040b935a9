// The honest twin of attention_keys_of_a_wide_block: the same kernel, mended.
#define FIXED
#include "attention_keys_of_a_wide_block.c"
