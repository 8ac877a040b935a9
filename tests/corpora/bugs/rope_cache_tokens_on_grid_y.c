// problem: rope_cache
// link: https://github.com/vllm-project/vllm/pull/52381
// title: Harden DeepSeek V3.2 fused kernel grids
// condition: a launch with 65536 tokens fails, since tokens are on the grid's second dimension
// kind: grid
// when: tokens > 65535
// wrong: refused: invalid argument

#include "rope.h"

int rope_cache(PARAMETERS)
{
    const struct rope r = {ARGUMENTS};
    (void)stream;
    return tokens > 65535 ? 1 : rope_run(&r, rotate, rotate);
}
