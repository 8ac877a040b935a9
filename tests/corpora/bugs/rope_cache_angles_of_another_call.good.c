// The honest twin of rope_cache_angles_of_another_call: the same kernel, mended.
#define FIXED
#include "rope_cache_angles_of_another_call.c"
