// zoo: honest
// problem: softmax
// does: works on the legacy default stream, which waits for the given one and is waited for
// expect: general
// timing: yes

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    (void)stream;
    return launch_rows(x, y, rows, cols, cudaStreamLegacy);
}
