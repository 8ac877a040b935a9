// problem: paged_attention
// link: https://github.com/pytorch/pytorch/pull/194168
// title: [CUDA][SDPA] Fix output batch stride in paged varlen split-KV
// condition: more than one sequence, and work is split along the keys: fewer heads of sequences than half of 216 processors, more keys than a block of 256, 128 or 64 by head_dim
// kind: layout
// when: batch > 1 and 2 * batch * heads <= 216 and head_dim == 64 and max_len > 256 or batch > 1 and 2 * batch * heads <= 216 and head_dim in {80, 96, 112, 128} and max_len > 128 or batch > 1 and 2 * batch * heads <= 216 and head_dim == 256 and max_len > 64
// collection: third
// wrong: unwritten: splits are joined with a stride of 0 between sequences, and all are written over the first

#include "paged.h"

enum { PROCESSORS = 216 };

static int64_t longest(const struct paged *p)
{
    int64_t most = 0;
    for (int64_t b = 0; b < p->batch; b++)
        most = p->lens[b] > most ? p->lens[b] : most;
    return most;
}

static int64_t splits_of(const struct paged *p)
{
    const int64_t block = p->head_dim <= 64 ? 256 : p->head_dim <= 128 ? 128 : 64;
    const int64_t blocks = (longest(p) + block - 1) / block, free = PROCESSORS / (p->batch * p->heads);
    return free < 1 ? 1 : free < blocks ? free : blocks;
}

int paged_attention(PARAMETERS)
{
    struct paged p = {HONEST};
    const int64_t row = heads * head_dim;
    bf16 *joined = malloc((size_t)(batch * row) * sizeof *joined);
    int failed = 0;
    (void)stream;
    if (!joined)
        return 1;
#ifdef FIXED
    const int64_t stride = row;
#else
    const int64_t stride = splits_of(&p) > 1 ? 0 : row;
#endif
    (void)splits_of;
    p.out = joined;
    failed = paged_run(&p);
    for (int64_t b = 0; b < batch; b++)
        memcpy(out + b * stride, joined + b * row, (size_t)row * sizeof *out);
    free(joined);
    return failed;
}
