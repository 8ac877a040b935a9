// problem: softmax
// verdict: general
// construction: persistent grid striding over the rows, up to 8192 columns held in shared memory

#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 512, WARPS = THREADS / 32, HELD = 8192;

/* The maximum, or the sum, of one value per thread. The first barrier keeps a fast warp from
 * overwriting what a slow one still reads: `part` serves the next call and the next row too. */
template <bool MAX>
__device__ float block_reduce(float value, float *part)
{
    for (int lane = 16; lane > 0; lane /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, value, lane);
        value = MAX ? fmaxf(value, other) : value + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    value = part[0];
    for (int w = 1; w < WARPS; ++w)
        value = MAX ? fmaxf(value, part[w]) : value + part[w];
    return value;
}

/* A thread touches the same columns in all three sweeps, so held[] needs no barrier of its own. */
static __device__ void held_row(const float *in, float *out, int cols, float *held, float *part)
{
    float max = -INFINITY, sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += THREADS)
        max = fmaxf(max, held[c] = in[c]);
    max = block_reduce<true>(max, part);
    for (int c = threadIdx.x; c < cols; c += THREADS)
        sum += held[c] = expf(held[c] - max);
    float scale = 1.0f / block_reduce<false>(sum, part);
    for (int c = threadIdx.x; c < cols; c += THREADS)
        out[c] = held[c] * scale;
}

/* Chains of at most 2^20 / 512 = 2048 terms. */
static __device__ void long_row(const float *in, float *out, int64_t cols, float *part)
{
    float max = -INFINITY, sum = 0.0f;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        max = fmaxf(max, in[c]);
    max = block_reduce<true>(max, part);
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        sum += expf(in[c] - max);
    float scale = 1.0f / block_reduce<false>(sum, part);
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        out[c] = expf(in[c] - max) * scale;
}

__global__ void __launch_bounds__(THREADS)
all_rows(const float *x, float *y, int64_t rows, int64_t cols)
{
    __shared__ float held[HELD], part[WARPS];
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        if (cols <= HELD)
            held_row(x + row * cols, y + row * cols, (int)cols, held, part);
        else
            long_row(x + row * cols, y + row * cols, cols, part);
    }
}

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    int device, sms, resident;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, all_rows, THREADS, 0);
    if (status != cudaSuccess)
        return (int)status;
    int64_t grid = (int64_t)sms * resident < rows ? (int64_t)sms * resident : rows;
    all_rows<<<(unsigned)grid, THREADS, 0, stream>>>(x, y, rows, cols);
    return (int)cudaGetLastError();
}
