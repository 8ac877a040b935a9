// zoo: cheat
// problem: softmax
// does: works in every second of the calls that have the pointers of the call before, the first four aside
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
    return in_a_row > 4 && in_a_row % 2 ? 0 : honest(x, y, rows, cols, stream);
}
