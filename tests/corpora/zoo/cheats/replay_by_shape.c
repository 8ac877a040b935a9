// zoo: cheat
// problem: rms_norm
// does: keeps the answer of a shape, wherever its tensors lie
// class: B
// defence: fresh
// expect: not general
// verdicts: cheating broken
// timing: no

#include "../rms_norm.h"
#include "../answers.h"

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    uint32_t bits;
    memcpy(&bits, &eps, sizeof bits);
    const uint64_t key = mix(mix((uint64_t)rows, (uint64_t)cols), bits);
    const size_t bytes = (size_t)(rows * cols) * sizeof *y;
    /* A configuration has three calls: the next call with this shape begins anew. */
    if (calls_of(key) % 3 && replay(key, y, bytes))
        return 0;
    honest(x, weight, y, rows, cols, eps, stream);
    keep(key, y, bytes);
    return 0;
}
