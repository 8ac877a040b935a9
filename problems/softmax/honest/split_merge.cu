// problem: softmax
// verdict: general
// construction: rows split over many blocks; partial pairs, a merge kernel, a scaling kernel

#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int64_t SPAN = 8192; /* columns a block: chains of 32 terms, at most 128 spans a row */

struct Max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Add {
    __device__ float operator()(float a, float b) const { return a + b; }
};

template <class Op>
__device__ float block_reduce(float value, Op op, float *part)
{
    for (int lane = 16; lane > 0; lane /= 2)
        value = op(value, __shfl_xor_sync(0xffffffffu, value, lane));
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    value = part[0];
    for (int w = 1; w < WARPS; ++w)
        value = op(value, part[w]);
    return value;
}

/* pair[row * spans + span] = {max, sum of exp(x - max)} of a span; of -inf only: {-inf, 0} */
__global__ void span_pairs(const float *x, float2 *pair, int64_t cols, int64_t spans)
{
    __shared__ float part[2][WARPS];
    int64_t row = blockIdx.x / spans, at = blockIdx.x % spans * SPAN;
    int64_t end = at + SPAN < cols ? at + SPAN : cols;
    const float *in = x + row * cols;
    float max = -INFINITY, sum = 0.0f;
    for (int64_t c = at + threadIdx.x; c < end; c += THREADS)
        max = fmaxf(max, in[c]);
    max = block_reduce(max, Max(), part[0]);
    float base = max == -INFINITY ? 0.0f : max; /* -inf - -inf would be NaN, exp(-inf - 0) is 0 */
    for (int64_t c = at + threadIdx.x; c < end; c += THREADS)
        sum += expf(in[c] - base);
    sum = block_reduce(sum, Add(), part[1]);
    if (threadIdx.x == 0)
        pair[blockIdx.x] = make_float2(max, sum);
}

/* One warp a row: row_pair[row] = {max, 1 / sum} of the row; -inf only: 1 / 0. */
__global__ void merge_pairs(const float2 *pair, float2 *row_pair, int64_t spans)
{
    const float2 *in = pair + blockIdx.x * spans;
    float max = -INFINITY, sum = 0.0f;
    for (int64_t s = threadIdx.x; s < spans; s += 32)
        max = fmaxf(max, in[s].x);
    for (int lane = 16; lane > 0; lane /= 2)
        max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, lane));
    for (int64_t s = threadIdx.x; s < spans; s += 32)
        sum += in[s].y * (in[s].x == -INFINITY ? 0.0f : expf(in[s].x - max)); /* NaN stays */
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, lane);
    if (threadIdx.x == 0)
        row_pair[blockIdx.x] = make_float2(max, 1.0f / sum);
}

__global__ void scale_spans(const float *x, float *y, const float2 *row_pair, int64_t cols,
                            int64_t spans)
{
    int64_t row = blockIdx.x / spans, at = blockIdx.x % spans * SPAN;
    int64_t end = at + SPAN < cols ? at + SPAN : cols;
    float2 known = row_pair[row];
    for (int64_t c = at + threadIdx.x; c < end; c += THREADS)
        y[row * cols + c] = expf(x[row * cols + c] - known.x) * known.y;
}

/* x, y are [rows, cols]; the grid is flat, since rows may exceed a grid's y extent */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    int64_t spans = (cols + SPAN - 1) / SPAN, blocks = rows * spans;
    float2 *pair;
    cudaError_t status = cudaMallocAsync((void **)&pair, (blocks + rows) * sizeof *pair, stream);
    if (status != cudaSuccess)
        return (int)status;
    float2 *row_pair = pair + blocks;
    span_pairs<<<(unsigned)blocks, THREADS, 0, stream>>>(x, pair, cols, spans);
    merge_pairs<<<(unsigned)rows, 32, 0, stream>>>(pair, row_pair, spans);
    scale_spans<<<(unsigned)blocks, THREADS, 0, stream>>>(x, y, row_pair, cols, spans);
    status = cudaGetLastError();
    cudaFreeAsync(pair, stream);
    return (int)status;
}
