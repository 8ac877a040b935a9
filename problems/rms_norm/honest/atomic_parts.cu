// problem: rms_norm
// verdict: general
// construction: parts of a row in blocks of their own; sums by atomics into a workspace, a second kernel scales

#include <cstdint>
#include <cuda_bf16.h>

constexpr int THREADS = 128, PART = 4096;

__global__ void add_squares(const __nv_bfloat16 *x, float *sum, int64_t cols, int64_t parts)
{
    const int64_t row = blockIdx.x / parts, from = blockIdx.x % parts * PART;
    float part = 0;
    for (int64_t c = from + threadIdx.x; c < cols && c < from + PART; c += THREADS) {
        const float v = __bfloat162float(x[row * cols + c]);
        part += v * v;
    }
    for (int lane = 16; lane > 0; lane /= 2)
        part += __shfl_xor_sync(~0u, part, lane);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sum[row], part);
}

__global__ void scale_rows(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, const float *sum, __nv_bfloat16 *y,
                           int64_t count, int64_t cols, float eps)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count)
        y[i] = __float2bfloat16(__bfloat162float(x[i]) * rsqrtf(sum[i / cols] / (float)cols + eps) *
                                __bfloat162float(weight[i % cols]));
}

extern "C" int rms_norm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int64_t rows,
                        int64_t cols, float eps, cudaStream_t stream)
{
    const int64_t parts = (cols + PART - 1) / PART, count = rows * cols;
    float *sum;
    if (cudaMallocAsync(&sum, (size_t)rows * sizeof *sum, stream) != cudaSuccess)
        return 1;
    cudaMemsetAsync(sum, 0, (size_t)rows * sizeof *sum, stream);
    add_squares<<<(unsigned)(rows * parts), THREADS, 0, stream>>>(x, sum, cols, parts);
    scale_rows<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, stream>>>(x, weight, sum, y, count, cols,
                                                                                   eps);
    cudaFreeAsync(sum, stream);
    return (int)cudaGetLastError();
}
