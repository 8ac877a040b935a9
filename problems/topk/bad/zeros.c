// problem: topk
// verdict: broken
// fault: all-zero output
// outcomes: wrong
// when: any
// shows: every row but one of a single zero

#include <stdint.h>
#include <string.h>

/* x is [rows, n]; values and indices are [rows, k], best first */
int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k,
         void *stream)
{
    (void)x, (void)n, (void)stream;
    /* planted: nothing is looked at */
    memset(values, 0, (size_t)(rows * k) * sizeof *values);
    memset(indices, 0, (size_t)(rows * k) * sizeof *indices);
    return 0;
}
