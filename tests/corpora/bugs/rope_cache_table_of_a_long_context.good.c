// The honest twin of rope_cache_table_of_a_long_context: the same kernel, mended.
#define FIXED
#include "rope_cache_table_of_a_long_context.c"
