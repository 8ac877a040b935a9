// The honest twin of attention_blocks_of_heads: the same kernel, mended.
#define FIXED
#include "attention_blocks_of_heads.c"
