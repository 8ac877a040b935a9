// The honest twin of paged_attention_page_of_the_next_token: the same kernel, mended.
#define FIXED
#include "paged_attention_page_of_the_next_token.c"
