// The honest twin of kda_state_of_another_layout: the same kernel, mended.
#define FIXED
#include "kda_state_of_another_layout.c"
