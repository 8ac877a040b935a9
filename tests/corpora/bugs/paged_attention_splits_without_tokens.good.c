// The honest twin of paged_attention_splits_without_tokens: the same kernel, mended.
#define FIXED
#include "paged_attention_splits_without_tokens.c"
