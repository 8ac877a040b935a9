// problem: softmax
// verdict: general
// construction: one block of 512 threads a row, three sweeps, tree reductions in shared memory

#include <cstdint>
#include <cuda_runtime.h>

/* A thread's chain has at most 2^20 / 512 = 2048 terms. */
constexpr int THREADS = 512;

/* The maximum (or sum) of one value per thread, in every thread. fmaxf passes NaN over. */
template <bool MAX>
__device__ float block_reduce(float value, float *shared)
{
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half) {
            float other = shared[threadIdx.x + half];
            shared[threadIdx.x] = MAX ? fmaxf(shared[threadIdx.x], other)
                                      : shared[threadIdx.x] + other;
        }
        __syncthreads();
    }
    float result = shared[0];
    __syncthreads(); /* all have read it before shared is used again */
    return result;
}

/* A NaN in the row reaches the sum, and so does inf - inf when the maximum is +inf or -inf:
 * then every quotient is NaN. */
__global__ void row_softmax(const float *x, float *y, int64_t cols)
{
    __shared__ float shared[THREADS];
    const float *in = x + blockIdx.x * cols;
    float *out = y + blockIdx.x * cols;

    float max = -INFINITY;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        max = fmaxf(max, in[c]);
    max = block_reduce<true>(max, shared);

    float sum = 0.0f;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        sum += expf(in[c] - max);
    sum = block_reduce<false>(sum, shared);

    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        out[c] = expf(in[c] - max) / sum;
}

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    row_softmax<<<(unsigned)rows, THREADS, 0, stream>>>(x, y, cols);
    return (int)cudaGetLastError();
}
