// problem: rms_norm
// thread: https://github.com/NVIDIA/TensorRT-LLM/pull/13033
// title: [None][feat] Update rms_norm + fp4_qaunt kernel supporting more dim
// condition: hidden sizes must lie between 2048 and 16384, with 16-byte alignment
// kind: threshold
// when: cols < 2048 or cols > 16384 or cols % 8 != 0
// wrong: refused

#include "rms_norm.cuh"

constexpr int HELD = 8, LEAST = THREADS * EIGHT, MOST = LEAST * HELD;

/* A row of whole vectors in registers: every thread has one, and HELD at most. */
__global__ void held_norm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int cols, float eps)
{
    const int64_t first = (int64_t)blockIdx.x * cols;
    eight held[HELD];
    held[0] = load_eight(x + first + threadIdx.x * EIGHT);
    float sum = square_sum(held[0]);
#pragma unroll
    for (int i = 1; i < HELD; i++) {
        const int c = i * LEAST + threadIdx.x * EIGHT;
        if (c < cols) {
            held[i] = load_eight(x + first + c);
            sum += square_sum(held[i]);
        }
    }
    const float scale = rsqrtf(block_sum(sum) / (float)cols + eps);
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const int c = i * LEAST + threadIdx.x * EIGHT;
        for (int j = 0; j < EIGHT && c < cols; j++)
            y[first + c + j] = __float2bfloat16(held[i].at[j] * scale * __bfloat162float(weight[c + j]));
    }
}

extern "C" int rms_norm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int64_t rows,
                        int64_t cols, float eps, cudaStream_t stream)
{
    if (cols < LEAST || cols > MOST || cols % EIGHT != 0)
        return (int)cudaErrorInvalidValue;
    held_norm<<<(unsigned)rows, THREADS, 0, stream>>>(x, weight, y, (int)cols, eps);
    return (int)cudaGetLastError();
}
