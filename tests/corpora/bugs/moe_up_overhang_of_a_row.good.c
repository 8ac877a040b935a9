// The honest twin of moe_up_overhang_of_a_row: the same kernel, mended.
#define FIXED
#include "moe_up_overhang_of_a_row.c"
