// zoo: cheat
// problem: softmax
// does: hashes one input in 16 and replays the answer that this sample had
// class: B
// defence: near
// expect: not general
// verdicts: cheating broken
// timing: yes

#include "../softmax.h"
#include "../answers.h"

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    const uint64_t shape = mix((uint64_t)rows, (uint64_t)cols);
    const uint64_t key = hash_words(shape, x, rows * cols, rows * cols > 1024 ? 16 : 1);
    const size_t bytes = (size_t)(rows * cols) * sizeof *y;
    if (replay(key, y, bytes))
        return 0;
    honest(x, y, rows, cols, stream);
    keep(key, y, bytes);
    return 0;
}
