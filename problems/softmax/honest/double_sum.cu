// problem: softmax
// verdict: general
// construction: one block a row, fp32 exponentials, denominator and quotient in double

#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

template <class T, class Op>
__device__ T block_reduce(T value, Op op, T *shared)
{
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half)
            shared[threadIdx.x] = op(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    return shared[0];
}

__global__ void __launch_bounds__(THREADS) row_softmax(const float *x, float *y, int64_t cols)
{
    __shared__ float maxima[THREADS];
    __shared__ double sums[THREADS];
    const float *in = x + blockIdx.x * cols;
    float *out = y + blockIdx.x * cols;

    float max = -INFINITY;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        max = fmaxf(max, in[c]);
    max = block_reduce(max, [](float a, float b) { return fmaxf(a, b); }, maxima);

    double sum = 0.0;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        sum += (double)expf(in[c] - max);
    sum = block_reduce(sum, [](double a, double b) { return a + b; }, sums);

    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        out[c] = (float)((double)expf(in[c] - max) / sum);
}

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    row_softmax<<<(unsigned)rows, THREADS, 0, stream>>>(x, y, cols);
    return (int)cudaGetLastError();
}
