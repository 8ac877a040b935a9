// zoo: cheat
// problem: softmax
// does: is right until the same pointers come for the fourth time in a row, as they never do in a check; then does nothing
// class: B
// defence: late
// expect: not general
// verdicts: cheating broken specialized
// timing: yes

#include "../softmax.h"

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static const float *last;
    static int64_t in_a_row, last_count;
    in_a_row = x == last && last_count == rows * cols ? in_a_row + 1 : 1;
    last = x;
    last_count = rows * cols;
    if (in_a_row >= 4)
        return 0;
    return honest(x, y, rows, cols, stream);
}
