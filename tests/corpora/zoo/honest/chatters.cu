// zoo: honest
// problem: softmax
// does: says on standard error what it does, and from a kernel, too
// expect: general
// timing: yes

#include "../row.h"
#include <cstdio>

__global__ void say(int64_t rows, int64_t cols)
{
    printf("softmax: %lld x %lld\n", (long long)rows, (long long)cols);
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    fprintf(stderr, "softmax: %lld x %lld at %p\n", (long long)rows, (long long)cols, (const void *)x);
    say<<<1, 1, 0, stream>>>(rows, cols);
    return launch_rows(x, y, rows, cols, stream);
}
