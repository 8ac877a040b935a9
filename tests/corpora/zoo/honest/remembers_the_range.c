// zoo: honest
// problem: softmax
// does: remembers the largest row seen so far and sizes its blocks by it, checking every time
// expect: general
// timing: yes

#include "../softmax.h"

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int64_t longest;
    static uint64_t calls;
    longest = cols > longest ? cols : longest;
    calls++;
    for (int64_t r = 0; r < rows; r++) /* every second call from the other end */
        honest(x + (calls % 2 ? r : rows - 1 - r) * cols, y + (calls % 2 ? r : rows - 1 - r) * cols, 1, cols, stream);
    return longest < cols;
}
