// The honest twin of rope_cache_shuffle_in_a_branch: the same kernel, mended.
#define FIXED
#include "rope_cache_shuffle_in_a_branch.c"
