// problem: paged_attention
// link: https://github.com/Dao-AILab/flash-attention/issues/1579
// title: [ROCm] Paged KV cache block size must be divisible by 128
// condition: "Paged KV cache block size must be divisible by 128"
// kind: block size
// when: page_size != 128
// wrong: refused

#include "paged.h"

int paged_attention(PARAMETERS)
{
    struct paged p = {HONEST};
    (void)stream;
    return page_size % 128 != 0 ? 1 : paged_run(&p);
}
