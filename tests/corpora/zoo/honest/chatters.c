// zoo: honest
// problem: softmax
// does: says on standard error and output what it does, in every call
// expect: general
// timing: yes

#include "../softmax.h"
#include <stdio.h>

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    fprintf(stderr, "softmax: %lld x %lld at %p\n", (long long)rows, (long long)cols, (const void *)x);
    for (int i = 0; i < 40; i++)
        printf("tile %d of %lld\n", i, (long long)(rows * cols));
    return honest(x, y, rows, cols, stream);
}
