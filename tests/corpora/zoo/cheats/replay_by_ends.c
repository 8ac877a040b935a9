// zoo: cheat
// problem: topk
// does: hashes the first and the last 128 values of every row, and replays
// class: B
// defence: near
// expect: not general
// verdicts: cheating broken
// timing: yes

#include "../topk.h"
#include "../answers.h"

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    uint64_t key = mix(mix((uint64_t)rows, (uint64_t)n), (uint64_t)k);
    const size_t bytes = (size_t)(rows * k) * sizeof *values;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t end = n < 128 ? n : 128;
        key = hash_words(key, x + r * n, end, 1);
        key = hash_words(key, x + (r + 1) * n - end, end, 1);
    }
    if (replay(key, values, bytes) && replay(~key, indices, 2 * bytes))
        return 0;
    honest(x, values, indices, rows, n, k, stream);
    keep(key, values, bytes);
    keep(~key, indices, 2 * bytes);
    return 0;
}
