// problem: topk
// link: https://github.com/apache/mxnet/issues/7510
// title: mx.sym.argsort() cannot sort array with large tensor
// condition: rows of 2048 from element 2^24 of the tensor on: an index is an element's number in the whole tensor, in fp32, until its row is taken off; sized down to 20 bits
// kind: overflow
// when: rows * n > 1048577
// side: necessary
// collection: fourth
// wrong: wrong indices: odd numbers above 2^20 become even, and larger ones multiples of 4, 8 and so on

#include <stdbool.h>

#define topk honest_topk
#include "../../../problems/topk/baseline.c"
#undef topk

enum { SIGNIFICAND = 20 };

#ifdef FIXED
typedef int64_t number;

static number number_of(int64_t element)
{
    return element;
}
#else
typedef float number;

/* To nearest, ties to even. */
static number number_of(int64_t element)
{
    int64_t unit = 1;
    while (element / unit >= (int64_t)1 << SIGNIFICAND)
        unit *= 2;
    const int64_t below = element / unit, rest = element % unit;
    const bool up = 2 * rest > unit || (2 * rest == unit && below % 2 != 0);
    return (number)((below + up) * unit);
}
#endif

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    const int failed = honest_topk(x, values, indices, rows, n, k, stream);
    if (failed)
        return failed;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < k; j++) {
            const number element = number_of(r * n + indices[r * k + j]);
            indices[r * k + j] = (int64_t)element % n;
        }
    return 0;
}
