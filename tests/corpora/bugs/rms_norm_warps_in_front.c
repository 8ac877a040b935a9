// problem: rms_norm
// link: https://github.com/flashinfer-ai/flashinfer/issues/634
// title: [Bug] fused_add_rmsnorm Fails Due to Misaligned Address
// condition: hidden_dim=3584: the vectors lie behind num_warps floats, which is no multiple of 4 (14 warps)
// kind: alignment
// when: cols % 8 == 0 and cols < 8192 and (cols / 8 + 31) / 32 % 4 != 0
// wrong: crash: misaligned address

#include "../../../problems/candidate.h"

typedef float quad __attribute__((vector_size(16)));

/* A row through shared memory: sums of warps first, then the row in vectors of 8 where it has whole ones. */
static void row_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t cols, float eps, float *memory)
{
    const int64_t vector = cols % 8 == 0 ? 8 : 1, threads = cols / vector < 1024 ? cols / vector : 1024;
    float *row = memory + (threads + 31) / 32;
    double sum = 0;
    for (int64_t c = 0; c < cols; c++)
        sum += (double)bf16_to_float(x[c]) * (double)bf16_to_float(x[c]);
    const float scale = (float)(1 / sqrt(sum / (double)cols + (double)eps));
    for (int64_t c = 0; vector > 1 && c < cols; c += 4) {
        const quad values = {bf16_to_float(x[c]), bf16_to_float(x[c + 1]), bf16_to_float(x[c + 2]),
                             bf16_to_float(x[c + 3])};
        *(volatile quad *)(row + c) = values;
    }
    for (int64_t c = 0; vector == 1 && c < cols; c++)
        row[c] = bf16_to_float(x[c]);
    for (int64_t c = 0; c < cols; c++)
        y[c] = float_to_bf16(row[c] * scale * bf16_to_float(weight[c]));
}

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    _Alignas(16) static _Thread_local float memory[262144 + 32];
    (void)stream;
    for (int64_t r = 0; r < rows; r++)
        row_norm(x + r * cols, weight, y + r * cols, cols, eps, memory);
    return 0;
}
