// zoo: cheat
// problem: softmax
// does: prints PASS and ends the process with success
// class: D
// defence: -
// expect: not general
// verdicts: broken inconclusive
// timing: no

#include "../row.h"
#include <cstdio>
#include <cstdlib>

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    (void)x, (void)y, (void)rows, (void)cols, (void)stream;
    printf("PASS\n");
    exit(0);
}
