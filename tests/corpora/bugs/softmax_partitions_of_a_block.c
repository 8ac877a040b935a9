// problem: softmax
// link: https://github.com/deepspeedai/DeepSpeed/issues/2985
// title: [BUG] DeepSpeed Inference reports Signal code: Integer divide-by-zero when Seq length is 4096 for GPT2
// condition: rows longer than 3840: the threads that reduce a row are more than the 256 of a block; rows above 32768 go to another kernel
// kind: threshold
// when: cols > 3840 and cols <= 32768
// collection: fourth
// wrong: crash: the grid is rows divided by the rows of a block, of which there are none

#define softmax honest_softmax
#include "../../../problems/softmax/baseline.c"
#undef softmax

enum { WARP = 32, ATTN_THREADS = 256, LONGEST = 32768 };

struct schedule {
    int64_t reduce_width; /* threads that reduce a row */
    int64_t partitions;   /* rows of a block */
    int64_t grid;
};

static int64_t floor_power_of_two(int64_t n)
{
    int64_t power = 1;
    while (2 * power <= n)
        power *= 2;
    return power;
}

static struct schedule schedule_of(int64_t rows, int64_t cols)
{
    struct schedule s;
    s.reduce_width = floor_power_of_two((cols - 1) / ATTN_THREADS + 1) * WARP;
#ifdef FIXED
    if (s.reduce_width > ATTN_THREADS)
        s.reduce_width = ATTN_THREADS;
#endif
    s.partitions = ATTN_THREADS / s.reduce_width;
    s.grid = (rows - 1) / s.partitions + 1;
    return s;
}

/* The maximum of a row: each thread's, then that of the threads. */
static float reduce_max(const float *x, int64_t cols, int64_t width)
{
    float max = -INFINITY;
    for (int64_t thread = 0; thread < width; thread++)
        for (int64_t c = thread; c < cols; c += width)
            max = x[c] > max ? x[c] : max;
    return max;
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    if (cols > LONGEST)
        return honest_softmax(x, y, rows, cols, stream);
    const struct schedule s = schedule_of(rows, cols);
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t block = 0; block < s.grid; block++)
        for (int64_t p = 0; p < s.partitions; p++) {
            const int64_t row = block * s.partitions + p;
            if (row >= rows)
                continue;
            const float *in = x + row * cols;
            float *out = y + row * cols;
            const float scale = (float)(1.0 / row_exp(in, out, cols, reduce_max(in, cols, s.reduce_width)));
            for (int64_t c = 0; c < cols; c++)
                out[c] *= scale;
        }
    return 0;
}
