// The honest twin of layer_norm_pairs_of_an_odd_row: the same kernel, mended.
#define FIXED
#include "layer_norm_pairs_of_an_odd_row.c"
