// problem: rms_norm
// link: https://github.com/openvinotoolkit/openvino/pull/35912
// title: [CPU] Fix/rmsnorm avx512 zero trip
// condition: a row shorter than a vector of 16: the loop over vectors counts down from 0
// kind: small size
// when: cols < 16
// collection: fourth
// wrong: out of bounds: the counter wraps, and the loop leaves the tensor

#include "../../../problems/candidate.h"

enum { LANES = 16 };

/* A kernel that is made for rows of one length. */
struct kernel {
    uint64_t vectors, tail;
};

static struct kernel generate(int64_t cols)
{
    return (struct kernel){(uint64_t)cols / LANES, (uint64_t)cols % LANES};
}

static bool has_loop(const struct kernel *k)
{
#ifdef FIXED
    return k->vectors != 0;
#else
    (void)k;
    return true;
#endif
}

static double squares(const struct kernel *k, const bf16 *x)
{
    double lane[LANES] = {0}, sum = 0;
    uint64_t left = k->vectors;
    if (has_loop(k))
        do {
            for (int i = 0; i < LANES; i++)
                lane[i] += (double)bf16_to_float(x[i]) * (double)bf16_to_float(x[i]);
            x += LANES;
        } while (--left != 0);
    for (uint64_t i = 0; i < k->tail; i++)
        lane[i] += (double)bf16_to_float(x[i]) * (double)bf16_to_float(x[i]);
    for (int i = 0; i < LANES; i++)
        sum += lane[i];
    return sum;
}

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    const struct kernel kernel = generate(cols);
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const bf16 *in = x + r * cols;
        const float scale = (float)(1 / sqrt(squares(&kernel, in) / (double)cols + (double)eps));
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = float_to_bf16(bf16_to_float(in[c]) * scale * bf16_to_float(weight[c]));
    }
    return 0;
}
