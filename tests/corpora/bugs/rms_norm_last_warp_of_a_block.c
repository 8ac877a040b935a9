// problem: rms_norm
// link: https://github.com/flashinfer-ai/flashinfer/pull/3879
// title: fix: error in blockReduceSumV2 when blockDim.x not a multiple of 32
// condition: the threads of a block are no multiple of 32, as with 2880 columns: 360 threads are 8 blocks of 45, then 2 of 180; fused up to 8192 columns
// kind: alignment
// when: cols % 8 == 0 and cols % 256 != 0 and cols < 2048 or cols % 8 == 0 and cols % 512 != 0 and cols >= 2048 and cols < 4096 or cols % 8 == 0 and cols % 1024 != 0 and cols >= 4096 and cols < 8192
// side: necessary
// collection: fourth
// wrong: wrong values: the sum of the last warp is written, and nobody reads it

#define rms_norm honest_rms_norm
#include "../../../problems/rms_norm/baseline.c"
#undef rms_norm

enum { WARP = 32, VEC_SIZE = 8, FEWEST_THREADS = 128, MOST_CLUSTER = 8, WIDEST = 8192 };

struct launch {
    int64_t cluster, block; /* blocks of a row, threads of a block; a thread has a vector */
};

static struct launch launch_of(int64_t cols)
{
    const int64_t threads = cols / VEC_SIZE;
    struct launch l = {.cluster = MOST_CLUSTER};
    while (threads % l.cluster != 0 && l.cluster > 1)
        l.cluster /= 2;
    l.block = threads / l.cluster;
    while (l.block < FEWEST_THREADS && l.cluster >= 2) {
        l.block *= 2;
        l.cluster /= 2;
    }
    return l;
}

static double warp_sum(const bf16 *x, int64_t threads)
{
    double sum = 0;
    for (int64_t c = 0; c < threads * VEC_SIZE; c++)
        sum += (double)bf16_to_float(x[c]) * (double)bf16_to_float(x[c]);
    return sum;
}

/* Every warp leaves its sum in shared memory; the first warp adds them up. */
static double block_sum(const bf16 *x, int64_t block)
{
#ifdef FIXED
    const int64_t read = (block + WARP - 1) / WARP;
#else
    const int64_t read = block / WARP;
#endif
    double shared[WIDEST / VEC_SIZE / WARP] = {0}, sum = 0;
    for (int64_t first = 0; first < block; first += WARP)
        shared[first / WARP] = warp_sum(x + first * VEC_SIZE, block - first < WARP ? block - first : WARP);
    for (int64_t warp = 0; warp < read; warp++)
        sum += shared[warp];
    return sum;
}

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    if (cols % VEC_SIZE != 0 || cols > WIDEST)
        return honest_rms_norm(x, weight, y, rows, cols, eps, stream);
    const struct launch l = launch_of(cols);
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0;
        for (int64_t rank = 0; rank < l.cluster; rank++)
            sum += block_sum(x + r * cols + rank * l.block * VEC_SIZE, l.block);
        const float scale = (float)(1 / sqrt(sum / (double)cols + (double)eps));
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] =
                float_to_bf16(bf16_to_float(x[r * cols + c]) * scale * bf16_to_float(weight[c]));
    }
    return 0;
}
