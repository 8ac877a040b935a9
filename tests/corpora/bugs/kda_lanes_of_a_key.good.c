// The honest twin of kda_lanes_of_a_key: the same kernel, mended.
#define FIXED
#include "kda_lanes_of_a_key.c"
