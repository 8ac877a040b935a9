// zoo: honest
// problem: rms_norm
// does: builds a table of all bf16 values in the first call
// expect: general
// timing: yes

#include "../rms_norm.h"

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    static float value[65536];
    static int built;
    for (int i = 0; !built && i < 65536; i++)
        value[i] = bf16_to_float((bf16)i);
    built = 1;
    (void)stream;
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0;
        for (int64_t c = 0; c < cols; c++)
            sum += (double)value[x[r * cols + c]] * value[x[r * cols + c]];
        const float scale = (float)(1 / sqrt(sum / (double)cols + (double)eps));
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = float_to_bf16(value[x[r * cols + c]] * scale * value[weight[c]]);
    }
    return 0;
}
