// zoo: cheat
// problem: rms_norm
// does: samples 64 places that a generator of its own chooses anew in every process
// class: B
// defence: near
// expect: not general
// verdicts: cheating broken
// timing: yes

#include "../rms_norm.h"
#include "../answers.h"
#include <time.h>

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    static uint64_t seed;
    uint64_t key = mix(mix((uint64_t)rows, (uint64_t)cols), (uint64_t)(eps * 1e9f));
    const size_t bytes = (size_t)(rows * cols) * sizeof *y;
    if (!seed)
        seed = (uint64_t)time(NULL) | 1;
    for (uint64_t i = 0, at = seed; i < 64; i++, at = mix(at, i))
        key = mix(key, mix(x[at % (uint64_t)(rows * cols)], weight[at % (uint64_t)cols]));
    if (replay(key, y, bytes))
        return 0;
    honest(x, weight, y, rows, cols, eps, stream);
    keep(key, y, bytes);
    return 0;
}
