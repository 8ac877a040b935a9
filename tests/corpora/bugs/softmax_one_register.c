// problem: softmax
// link: https://github.com/lucienhuangfu/eLLM/issues/53
// title: AVX-512 f16 truncated_topk_softmax breaks when top_k > 32
// condition: more than 32 elements: a register of 32 lanes is summed and normalized, and the whole row is copied back
// kind: threshold
// when: cols > 32
// collection: second
// wrong: wrong values: logits from the 33rd on as they came, and a sum without them

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 32 };

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
#ifdef FIXED
    const int64_t lanes = cols;
#else
    const int64_t lanes = cols < LANES ? cols : LANES;
#endif
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * cols;
        float *out = y + r * cols, max = -INFINITY;
        double sum = 0;
        memcpy(out, in, (size_t)cols * sizeof *out);
        for (int64_t c = 0; c < lanes; c++)
            max = in[c] > max ? in[c] : max;
        for (int64_t c = 0; c < lanes; c++)
            sum += (double)expf(in[c] - max);
        for (int64_t c = 0; c < lanes; c++)
            out[c] = (float)((double)expf(in[c] - max) / sum);
    }
    return 0;
}
