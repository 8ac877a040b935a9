// problem: topk
// link: https://github.com/intel/torch-xpu-ops/issues/4898
// title: [BUG] `torch.topk()` fails for tensors with 4096 or more elements
// condition: rows of 4096 or more go to work-groups of 1024 threads, unless k is at most 16 and the rows are many
// kind: threshold
// when: n >= 4096 and k > 16 or n >= 4096 and rows < 256
// collection: third
// wrong: refused: the device has no room for such a work-group

#define topk honest_topk
#include "../../../problems/topk/baseline.c"
#undef topk

enum { OUT_OF_RESOURCES = 40, THREADS_OF_THE_DEVICE = 1024, MOST_THREADS = 512, WORK_GROUP = 1024 };

/* Threads of a work-group: of the old kernel, of a subgroup a row, or of a work-group a row. */
static int64_t threads_of(int64_t rows, int64_t n, int64_t k)
{
    if (n < 1024)
        return 256;
    if (k <= 16 && rows >= THREADS_OF_THE_DEVICE / 4)
        return 32;
    return n >= 4096 ? WORK_GROUP : 256;
}

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    int64_t threads = threads_of(rows, n, k);
#ifdef FIXED
    threads = threads < MOST_THREADS ? threads : MOST_THREADS;
#endif
    if (threads > MOST_THREADS)
        return OUT_OF_RESOURCES;
    return honest_topk(x, values, indices, rows, n, k, stream);
}
