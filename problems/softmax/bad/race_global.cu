// problem: softmax
// verdict: broken
// fault: race
// outcomes: wrong unstable
// when: cols > 1024
// shows: cols > 1024: several blocks add to one sum

#include <cstdint>
#include <cuda_runtime.h>

/* Chains of at most 2^20 / 512 = 2048 terms. */
constexpr int THREADS = 512, WARPS = THREADS / 32;
constexpr int64_t SPAN = 1024;

/* The maximum, or the sum, of one value per thread, in every thread. */
template <bool MAX>
__device__ float block_reduce(float value, float *part)
{
    for (int lane = 16; lane > 0; lane /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, value, lane);
        value = MAX ? fmaxf(value, other) : value + other;
    }
    __syncthreads(); /* the readers of the last reduction are done */
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    value = part[0];
    for (int w = 1; w < WARPS; ++w)
        value = MAX ? fmaxf(value, part[w]) : value + part[w];
    return value;
}

__global__ void row_max(const float *x, float2 *known, int64_t cols)
{
    __shared__ float part[WARPS];
    float max = -INFINITY;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        max = fmaxf(max, x[blockIdx.x * cols + c]);
    max = block_reduce<true>(max, part);
    if (threadIdx.x == 0)
        known[blockIdx.x] = make_float2(max, 0.0f);
}

/* planted: the blocks of a row add to its sum without an atomic; what comes between is lost */
__global__ void add_span(const float *x, float2 *known, int64_t cols, int64_t spans)
{
    __shared__ float part[WARPS];
    int64_t row = blockIdx.x / spans, at = blockIdx.x % spans * SPAN;
    int64_t end = at + SPAN < cols ? at + SPAN : cols;
    float max = known[row].x, sum = 0.0f;
    for (int64_t c = at + threadIdx.x; c < end; c += THREADS)
        sum += expf(x[row * cols + c] - max);
    sum = block_reduce<false>(sum, part);
    if (threadIdx.x == 0)
        known[row].y += sum;
}

__global__ void scale_span(const float *x, float *y, const float2 *known, int64_t cols,
                           int64_t spans)
{
    int64_t row = blockIdx.x / spans, at = blockIdx.x % spans * SPAN;
    int64_t end = at + SPAN < cols ? at + SPAN : cols;
    for (int64_t c = at + threadIdx.x; c < end; c += THREADS)
        y[row * cols + c] = expf(x[row * cols + c] - known[row].x) / known[row].y;
}

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    float2 *known;
    cudaError_t status = cudaMallocAsync((void **)&known, rows * sizeof *known, stream);
    if (status != cudaSuccess)
        return (int)status;
    int64_t spans = (cols + SPAN - 1) / SPAN;
    unsigned blocks = (unsigned)(rows * spans);
    row_max<<<(unsigned)rows, THREADS, 0, stream>>>(x, known, cols);
    add_span<<<blocks, THREADS, 0, stream>>>(x, known, cols, spans);
    scale_span<<<blocks, THREADS, 0, stream>>>(x, y, known, cols, spans);
    status = cudaGetLastError();
    cudaFreeAsync(known, stream);
    return (int)status;
}
