/* A row's softmax by a block, for candidates that differ from an honest one in a step. */
#include <cstdint>
#include <cuda_runtime.h>

/* The maximum (or sum) of a value of each of THREADS threads, in all of them. fmaxf passes NaN over. */
template <bool MAX, int THREADS> __device__ float block_reduce(float value)
{
    __shared__ float shared[THREADS];
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half) {
            const float other = shared[threadIdx.x + half];
            shared[threadIdx.x] = MAX ? fmaxf(shared[threadIdx.x], other) : shared[threadIdx.x] + other;
        }
        __syncthreads();
    }
    const float result = shared[0];
    __syncthreads(); /* all have read it before shared is used again */
    return result;
}

/* Three sweeps. A NaN, or inf - inf where the maximum is infinite, reaches the sum: then all quotients are NaN. */
template <int THREADS> __device__ void softmax_row(const float *in, float *out, int64_t cols)
{
    float max = -INFINITY, sum = 0;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        max = fmaxf(max, in[c]);
    max = block_reduce<true, THREADS>(max);
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        sum += expf(in[c] - max);
    sum = block_reduce<false, THREADS>(sum);
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        out[c] = expf(in[c] - max) / sum;
}
