// The honest twin of kda_head_of_128: the same kernel, mended.
#define FIXED
#include "kda_head_of_128.c"
