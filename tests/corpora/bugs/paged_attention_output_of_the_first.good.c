// The honest twin of paged_attention_output_of_the_first: the same kernel, mended.
#define FIXED
#include "paged_attention_output_of_the_first.c"
