// problem: softmax
// thread: https://github.com/linkedin/Liger-Kernel/pull/1252
// title: Fix softmax multi-block path for n_cols > 65536 (unreachable + non-compiling)
// condition: rows wider than 65536 raise an error before any kernel is chosen
// kind: threshold
// when: cols > 65536
// wrong: refused: no kernel is compiled for a block of more elements, and a row must fit in one

#include "softmax.cuh"

constexpr int THREADS = 512, MAX_ITEMS = 128;

/* A row in the registers of a block of THREADS * ITEMS elements. Those past it hold -inf, whose exponential is 0. */
template <int ITEMS>
__global__ void __launch_bounds__(THREADS) fused_softmax(const float *x, float *y, int64_t cols)
{
    const float *in = x + blockIdx.x * cols;
    float *out = y + blockIdx.x * cols;
    float held[ITEMS], max = -INFINITY, sum = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const int64_t c = threadIdx.x + i * THREADS;
        held[i] = c < cols ? in[c] : -INFINITY;
        max = fmaxf(max, held[i]);
    }
    max = block_reduce<true, THREADS>(max);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        held[i] = expf(held[i] - max);
        sum += held[i];
    }
    sum = block_reduce<false, THREADS>(sum);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const int64_t c = threadIdx.x + i * THREADS;
        if (c < cols)
            out[c] = held[i] / sum;
    }
}

/* The smallest block that holds a row, of ITEMS elements a thread or more. */
template <int ITEMS>
static int launch(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    if (cols <= THREADS * ITEMS) {
        fused_softmax<ITEMS><<<(unsigned)rows, THREADS, 0, stream>>>(x, y, cols);
        return (int)cudaGetLastError();
    }
    if constexpr (ITEMS < MAX_ITEMS)
        return launch<2 * ITEMS>(x, y, rows, cols, stream);
    else
        return (int)cudaErrorInvalidValue;
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    return launch<1>(x, y, rows, cols, stream);
}
