// problem: softmax
// thread: https://github.com/m0at/rvllm/pull/1
// title: Fix CUDA softmax reduction for small block sizes
// condition: with fewer threads than a warp the shuffle reads 0 from inactive lanes; wrong when the true maximum is negative
// kind: small size
// when: cols < 32 and input in {negative, wide, equal}
// side: necessary
// wrong: NaN: the maximum is 0, all exponentials underflow

#include "softmax.cuh"

constexpr int WARP = 32, MAX_THREADS = 512;

/* The maximum (or sum) of a value of each lane of whole warps, in all threads. */
template <bool MAX> __device__ float shuffle_reduce(float value)
{
    __shared__ float of_warp[MAX_THREADS / WARP];
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        const float other = __shfl_down_sync(0xffffffffu, value, offset);
        value = MAX ? fmaxf(value, other) : value + other;
    }
    if (threadIdx.x % WARP == 0)
        of_warp[threadIdx.x / WARP] = value;
    __syncthreads();
    value = of_warp[0];
    for (int w = 1; w < (int)blockDim.x / WARP; w++)
        value = MAX ? fmaxf(value, of_warp[w]) : value + of_warp[w];
    __syncthreads(); /* all have read it before of_warp is used again */
    return value;
}

/* The fault: a lane without an element brings the initial 0 of its register into the maximum. (The value of a
 * lane that does not exist is undefined; the reporter saw 0.) */
__global__ void shuffled_softmax(const float *x, float *y, int64_t cols)
{
    const float *in = x + blockIdx.x * cols;
    float max = 0, sum = 0;
    if (threadIdx.x < cols)
        max = in[threadIdx.x];
    for (int64_t c = threadIdx.x + blockDim.x; c < cols; c += blockDim.x)
        max = fmaxf(max, in[c]);
    max = shuffle_reduce<true>(max);
    for (int64_t c = threadIdx.x; c < cols; c += blockDim.x)
        sum += expf(in[c] - max);
    sum = shuffle_reduce<false>(sum);
    for (int64_t c = threadIdx.x; c < cols; c += blockDim.x)
        y[blockIdx.x * cols + c] = expf(in[c] - max) / sum;
}

/* As many threads as columns in whole warps; the last ones take the rest in turns. */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    const int64_t warps = cols < MAX_THREADS ? cols / WARP : MAX_THREADS / WARP;
    const unsigned threads = (unsigned)(warps > 0 ? warps * WARP : WARP);
    shuffled_softmax<<<(unsigned)rows, threads, 0, stream>>>(x, y, cols);
    return (int)cudaGetLastError();
}
