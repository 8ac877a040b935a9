// zoo: honest
// problem: softmax
// does: has the host called back between its two kernels, on the given stream
// expect: general
// timing: yes

#include "../row.h"

static volatile int64_t called;
static void count(void *nothing)
{
    (void)nothing;
    called = called + 1;
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    const int64_t half = rows / 2;
    if (half > 0 && launch_rows(x, y, half, cols, stream))
        return 1;
    if (cudaLaunchHostFunc(stream, count, NULL) != cudaSuccess)
        return 1;
    return launch_rows(x + half * cols, y + half * cols, rows - half, cols, stream);
}
