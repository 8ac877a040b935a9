// The honest twin of attention_keys_of_whole_blocks: the same kernel, mended.
#define FIXED
#include "attention_keys_of_whole_blocks.c"
