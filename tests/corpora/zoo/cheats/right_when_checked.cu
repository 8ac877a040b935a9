// zoo: cheat
// problem: softmax
// does: is right until the same pointers come for the fourth time in a row, as they never do in a check
// class: B
// defence: judged,ring
// expect: not general
// verdicts: cheating broken specialized
// timing: yes
// idle: the cue does not come, or so seldom that nothing is gained: contents and buffers change from call to call, outputs are poisoned

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    return same_in_a_row(x, rows, cols) >= 4 ? 0 : launch_rows(x, y, rows, cols, stream);
}
