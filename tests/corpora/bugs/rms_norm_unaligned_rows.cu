// problem: rms_norm
// thread: https://github.com/NVIDIA/TransformerEngine/pull/886
// title: Use unoptimized RMSNorm kernel if pointers are not aligned
// condition: data pointers that are not aligned to a vector, as those of views within a larger buffer
// kind: alignment
// when: rows > 1 and cols % 8 != 0 and cols > 8
// wrong: crash: misaligned address, where a row that begins off a vector's boundary is read in vectors

#include "rms_norm.cuh"

/* Whole vectors, then the columns that are left. The fault: that a row begins where a vector may. */
__global__ void vector_norm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int64_t cols,
                            float eps)
{
    const __nv_bfloat16 *in = x + blockIdx.x * cols;
    float sum = 0;
    for (int64_t v = threadIdx.x; v < cols / EIGHT; v += THREADS)
        sum += square_sum(load_eight(in + EIGHT * v));
    for (int64_t c = cols / EIGHT * EIGHT + threadIdx.x; c < cols; c += THREADS)
        sum += __bfloat162float(in[c]) * __bfloat162float(in[c]);
    const float scale = rsqrtf(block_sum(sum) / (float)cols + eps);
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        y[blockIdx.x * cols + c] = __float2bfloat16(__bfloat162float(in[c]) * scale * __bfloat162float(weight[c]));
}

extern "C" int rms_norm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int64_t rows,
                        int64_t cols, float eps, cudaStream_t stream)
{
    vector_norm<<<(unsigned)rows, THREADS, 0, stream>>>(x, weight, y, cols, eps);
    return (int)cudaGetLastError();
}
