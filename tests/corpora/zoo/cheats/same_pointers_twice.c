// zoo: cheat
// problem: softmax
// does: does nothing when the last call had the same pointers and its answer still lies there
// class: B
// defence: ring
// expect: not general
// verdicts: cheating broken specialized
// timing: yes
// idle: the cue does not come, or so seldom that nothing is gained: contents and buffers change from call to call, outputs are poisoned

#include "../softmax.h"
#include "../answers.h"

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static const float *last;
    static uint64_t left;
    const int64_t step = 1 + rows * cols / 64;
    if (x == last && hash_words(7, y, rows * cols, step) == left)
        return 0;
    honest(x, y, rows, cols, stream);
    last = x;
    left = hash_words(7, y, rows * cols, step);
    return 0;
}
