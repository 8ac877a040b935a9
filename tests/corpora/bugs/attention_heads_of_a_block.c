// problem: attention
// link: https://github.com/lightseekorg/tokenspeed/pull/1185
// title: fix(kernel): lift merge_state's per-block head cap with gridDim.y tiling
// condition: a block has 16 threads for each head (head_dim 128), 32 from 256 on: above 64 or 32 heads the launch fails
// kind: grid
// when: group * kv_heads * (head_dim / 8) > 1024
// wrong: refused: more than 1024 threads a block

#include "attention.h"

int attention(PARAMETERS)
{
    const int64_t threads_of_a_head = head_dim / 8;
    if (heads * threads_of_a_head > 1024)
        return 9; /* cudaErrorInvalidConfiguration */
    return honest_attention(ARGUMENTS, stream);
}
