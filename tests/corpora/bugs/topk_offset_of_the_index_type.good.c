// The honest twin of topk_offset_of_the_index_type: the same kernel, mended.
#define FIXED
#include "topk_offset_of_the_index_type.c"
