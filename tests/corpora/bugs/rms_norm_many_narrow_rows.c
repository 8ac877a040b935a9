// problem: rms_norm
// link: https://github.com/ROCm/FlyDSL/pull/639
// title: [Bugfix] rmsnorm: annotate known_block_size on large-M small-N path
// condition: a path of its own for more than 8192 rows of at most 2048 columns has blocks of 512 or 1024 threads; 256 are let in
// kind: threshold
// when: rows > 8192 and cols <= 2048
// collection: second
// wrong: refused: the launch has more threads a block than the kernel was compiled for

#define rms_norm honest_rms_norm
#include "../../../problems/rms_norm/baseline.c"
#undef rms_norm

#ifdef FIXED
enum { MOST_THREADS = 1024 };
#else
enum { MOST_THREADS = 256 };
#endif

static int64_t threads_of(int64_t rows, int64_t cols)
{
    if (rows <= 8192 || cols > 2048)
        return 256;
    return cols <= 512 ? 1024 : 512;
}

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    if (threads_of(rows, cols) > MOST_THREADS)
        return 9; /* an invalid launch configuration */
    return honest_rms_norm(x, weight, y, rows, cols, eps, stream);
}
