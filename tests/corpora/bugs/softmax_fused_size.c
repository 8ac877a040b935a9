// problem: softmax
// link: https://github.com/linkedin/Liger-Kernel/pull/1252
// title: Fix softmax multi-block path for n_cols > 65536 (unreachable + non-compiling)
// condition: rows wider than 65536 raise an error before any kernel is chosen
// kind: threshold
// when: cols > 65536
// wrong: refused: the block that a row must fit in has a greatest size

#define softmax honest_softmax
#include "../../../problems/softmax/baseline.c"
#undef softmax

enum { MAX_FUSED_SIZE = 65536 };

static int64_t next_power_of_2(int64_t n)
{
    int64_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    if (next_power_of_2(cols) > MAX_FUSED_SIZE)
        return 1;
    return honest_softmax(x, y, rows, cols, stream);
}
