// problem: softmax
// verdict: broken
// fault: all-zero output
// outcomes: wrong
// when: any
// shows: every configuration with a result that is not 0

#include <stdint.h>
#include <string.h>

/* x, y are [rows, cols] */
int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)x, (void)stream;
    /* planted: zeros, which a loose absolute tolerance takes for the small values of a long row */
    memset(y, 0, (size_t)(rows * cols) * sizeof *y);
    return 0;
}
