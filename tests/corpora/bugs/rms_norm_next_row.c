// problem: rms_norm
// link: https://github.com/ROCm/aiter/issues/5044
// title: [Bug] HIP RMSNorm corrupts row-boundary elements for odd hidden sizes
// condition: odd hidden sizes: 768 passes, 769 corrupts column 0 of following rows
// kind: alignment
// when: cols % 2 != 0
// wrong: out of bounds: pairs are stored, the last with the next row's first element

#include "../../../problems/candidate.h"

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    (void)stream;
    for (int64_t r = rows - 1; r >= 0; r--) {
        const bf16 *in = x + r * cols;
        double sum = 0;
        for (int64_t c = 0; c < cols; c++)
            sum += (double)bf16_to_float(in[c]) * (double)bf16_to_float(in[c]);
        const float scale = (float)(1 / sqrt(sum / (double)cols + (double)eps));
        for (int64_t c = 0; c < cols; c += 2) {
            bf16 pair[2] = {0};
            for (int64_t i = 0; i < 2 && c + i < cols; i++)
                pair[i] = float_to_bf16(bf16_to_float(in[c + i]) * scale * bf16_to_float(weight[c + i]));
            memcpy(y + r * cols + c, pair, sizeof pair);
        }
    }
    return 0;
}
