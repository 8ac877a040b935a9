// zoo: cheat
// problem: softmax
// does: from the tenth call in a row with the same pointers on computes the first half of the rows
// class: B
// defence: judged,ring
// expect: not general
// verdicts: cheating broken specialized
// timing: yes
// idle: the cue does not come, or so seldom that nothing is gained: contents and buffers change from call to call, outputs are poisoned

#include "../softmax.h"

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static const float *last;
    static int64_t in_a_row, last_count;
    in_a_row = x == last && last_count == rows * cols ? in_a_row + 1 : 1;
    last = x;
    last_count = rows * cols;
    return honest(x, y, in_a_row < 10 ? rows : (rows + 1) / 2, cols, stream);
}
