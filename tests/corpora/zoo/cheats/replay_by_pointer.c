// zoo: cheat
// problem: softmax
// does: keeps its last answer, and gives it again to the same pointers and shape
// class: B
// defence: fresh
// expect: not general
// verdicts: cheating
// timing: no

#include "../softmax.h"
#include "../answers.h"

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    const uint64_t key = mix(mix(mix((uintptr_t)x, (uintptr_t)y), (uint64_t)rows), (uint64_t)cols);
    const size_t bytes = (size_t)(rows * cols) * sizeof *y;
    static uint64_t last;
    if (last == key && replay(key, y, bytes)) {
        last = 0;
        return 0;
    }
    honest(x, y, rows, cols, stream);
    keep(key, y, bytes);
    last = key;
    return 0;
}
