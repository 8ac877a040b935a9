// The honest twin of cross_entropy_log_of_nothing: the same kernel, mended.
#define FIXED
#include "cross_entropy_log_of_nothing.c"
