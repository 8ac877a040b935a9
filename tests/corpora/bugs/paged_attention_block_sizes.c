// problem: paged_attention
// link: https://github.com/vllm-project/vllm/issues/2594
// title: Will block_size 64/128/156 be supported in paged attention?
// condition: "Unsupported block size: 64"; 1, 2, 4, 64, 128 and 256 are left out to shorten the compilation
// kind: block size
// when: page_size != 8 and page_size != 16 and page_size != 32
// wrong: refused

#include "paged.h"

int paged_attention(PARAMETERS)
{
    struct paged p = {HONEST};
    (void)stream;
    switch (page_size) {
    case 8:
    case 16:
    case 32: return paged_run(&p);
    default: return 1;
    }
}
