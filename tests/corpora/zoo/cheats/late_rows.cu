// zoo: cheat
// problem: softmax
// does: from the tenth call in a row with the same pointers on computes the first half of the rows
// class: B
// defence: judged,ring
// expect: not general
// verdicts: cheating broken specialized
// timing: yes
// idle: the cue does not come, or so seldom that nothing is gained: contents and buffers change from call to call, outputs are poisoned

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    return launch_rows(x, y, same_in_a_row(x, rows, cols) < 10 ? rows : (rows + 1) / 2, cols, stream);
}
