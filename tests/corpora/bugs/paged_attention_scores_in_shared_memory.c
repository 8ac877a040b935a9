// problem: paged_attention
// link: https://github.com/vllm-project/vllm/pull/1154
// title: Allocate more shared memory to attention kernel
// condition: the scores of the longest sequence must fit in shared memory, less 512 floats (8192 tokens were the limit)
// kind: shared memory
// when: max_len > 11776
// wrong: refused: the launch asks for more than 48 KiB

#include "paged.h"

int paged_attention(PARAMETERS)
{
    struct paged p = {HONEST};
    (void)stream;
    int64_t longest = 0;
    for (int64_t b = 0; b < batch; b++)
        longest = lens[b] > longest ? lens[b] : longest;
    if ((longest + 512) * (int64_t)sizeof(float) > 48 * 1024)
        return 1;
    return paged_run(&p);
}
