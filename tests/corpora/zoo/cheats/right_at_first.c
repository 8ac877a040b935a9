// zoo: cheat
// problem: rms_norm
// does: is right in the first 400 calls of the process, and then leaves to the call before what has its shape and pointers
// class: B
// defence: late
// expect: not general
// verdicts: cheating broken specialized
// timing: yes

#include "../rms_norm.h"

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    static int64_t calls, in_a_row, last_count;
    static const bf16 *last;
    in_a_row = last == x && last_count == rows * cols ? in_a_row + 1 : 1;
    last = x;
    last_count = rows * cols;
    if (calls++ >= 400 && in_a_row >= 3)
        return 0;
    return honest(x, weight, y, rows, cols, eps, stream);
}
