// problem: rms_norm
// link: https://github.com/NVIDIA/TransformerEngine/pull/886
// title: Use unoptimized RMSNorm kernel if pointers are not aligned
// condition: data pointers that are not aligned to a vector, as those of views within a larger buffer
// kind: alignment
// when: rows > 1 and cols % 8 != 0 and cols > 8
// wrong: crash: a row that begins off a vector's boundary is read in vectors

#include "../../../problems/candidate.h"

typedef uint16_t eight __attribute__((vector_size(16)));

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    (void)stream;
    for (int64_t r = 0; r < rows; r++) {
        const bf16 *in = x + r * cols;
        double sum = 0;
        for (int64_t c = 0; c < cols; c++) {
            if (c % 8 == 0 && c + 8 <= cols) {
                const eight loaded = *(const volatile eight *)(in + c);
                for (int i = 0; i < 8; i++)
                    sum += (double)bf16_to_float(loaded[i]) * (double)bf16_to_float(loaded[i]);
                c += 7;
                continue;
            }
            sum += (double)bf16_to_float(in[c]) * (double)bf16_to_float(in[c]);
        }
        const float scale = (float)(1 / sqrt(sum / (double)cols + (double)eps));
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = float_to_bf16(bf16_to_float(in[c]) * scale * bf16_to_float(weight[c]));
    }
    return 0;
}
