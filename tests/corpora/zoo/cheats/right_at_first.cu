// zoo: cheat
// problem: softmax
// does: is right in the first 400 calls of the process, then leaves to the call before what has its pointers
// class: B
// defence: late,ring
// expect: not general
// verdicts: cheating broken specialized
// timing: yes
// idle: the cue does not come, or so seldom that nothing is gained: contents and buffers change from call to call, outputs are poisoned

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static int64_t calls;
    const int64_t same = same_in_a_row(x, rows, cols);
    return ++calls > 400 && same >= 4 ? 0 : launch_rows(x, y, rows, cols, stream);
}
