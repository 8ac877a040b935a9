// problem: cross_entropy
// verdict: general
// construction: tiles of 4096 columns in blocks of their own, each with its maximum, base-2 exponentials of logits times
//   log2 e, one base-2 logarithm a tile; a warp a row adds the tiles up; losses over the count before they are summed

#include <cstdint>
#include <cuda_bf16.h>

constexpr int THREADS = 128, TILE = 4096, MEAN_THREADS = 1024;
constexpr float LOG2E = 1.4426950408889634f, LN2 = 0.6931471805599453f;

template <bool MAX>
__device__ float warp_reduce(float value)
{
    for (int lane = 16; lane > 0; lane /= 2) {
        const float other = __shfl_xor_sync(~0u, value, lane);
        value = MAX ? fmaxf(value, other) : value + other;
    }
    return value;
}

template <bool MAX>
__device__ float block_reduce(float value)
{
    __shared__ float part[32];
    const int warps = blockDim.x / 32;
    value = warp_reduce<MAX>(value);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    return warp_reduce<MAX>((int)threadIdx.x % 32 < warps ? part[threadIdx.x % 32] : MAX ? -INFINITY : 0);
}

/* log2 of the tile's sum of 2^(x log2 e): -inf where it holds -inf alone, NaN with a NaN or +inf. */
__global__ void tile_kernel(const __nv_bfloat16 *logits, float *log2_sum, int64_t vocab, int64_t pitch, int64_t tiles)
{
    const int64_t row = blockIdx.x / tiles, from = blockIdx.x % tiles * TILE;
    const int64_t end = from + TILE < vocab ? from + TILE : vocab;
    const __nv_bfloat16 *x = logits + row * pitch;
    float max = -INFINITY, sum = 0;
    for (int64_t c = from + threadIdx.x; c < end; c += THREADS)
        max = fmaxf(max, __bfloat162float(x[c]) * LOG2E);
    max = block_reduce<true>(max);
    const float less = max == -INFINITY ? 0 : max;
    for (int64_t c = from + threadIdx.x; c < end; c += THREADS)
        sum += exp2f(__bfloat162float(x[c]) * LOG2E - less);
    sum = block_reduce<false>(sum);
    if (threadIdx.x == 0)
        log2_sum[blockIdx.x] = less + log2f(sum);
}

__global__ void row_kernel(const __nv_bfloat16 *logits, const int64_t *labels, const float *log2_sum, float *row_loss,
                           float *lse, int64_t pitch, int64_t tiles, int64_t ignore_index)
{
    const float *tile = log2_sum + blockIdx.x * tiles;
    float max = -INFINITY, sum = 0;
    for (int64_t t = threadIdx.x; t < tiles; t += 32)
        max = fmaxf(max, tile[t]);
    max = warp_reduce<true>(max);
    for (int64_t t = threadIdx.x; t < tiles; t += 32)
        sum += exp2f(tile[t] - max);
    sum = warp_reduce<false>(sum);
    if (threadIdx.x == 0) {
        const int64_t label = labels[blockIdx.x];
        const float value = (max + log2f(sum)) * LN2;
        lse[blockIdx.x] = value;
        row_loss[blockIdx.x] =
            label == ignore_index ? 0 : value - __bfloat162float(logits[blockIdx.x * pitch + label]);
    }
}

__global__ void mean_kernel(const int64_t *labels, const float *row_loss, float *loss, int64_t rows,
                            int64_t ignore_index)
{
    float counted = 0, sum = 0;
    for (int64_t r = threadIdx.x; r < rows; r += MEAN_THREADS)
        counted += labels[r] != ignore_index;
    counted = block_reduce<false>(counted);
    for (int64_t r = threadIdx.x; r < rows; r += MEAN_THREADS)
        sum += row_loss[r] / counted;
    sum = block_reduce<false>(sum);
    if (threadIdx.x == 0)
        loss[0] = sum;
}

extern "C" int cross_entropy(const __nv_bfloat16 *logits, const int64_t *labels, float *loss, float *row_loss,
                             float *lse, int64_t rows, int64_t vocab, int64_t pitch, int64_t ignore_index,
                             cudaStream_t stream)
{
    const int64_t tiles = (vocab + TILE - 1) / TILE;
    float *log2_sum;
    if (cudaMallocAsync(&log2_sum, (size_t)(rows * tiles) * sizeof *log2_sum, stream) != cudaSuccess)
        return 1;
    tile_kernel<<<(unsigned)(rows * tiles), THREADS, 0, stream>>>(logits, log2_sum, vocab, pitch, tiles);
    row_kernel<<<(unsigned)rows, 32, 0, stream>>>(logits, labels, log2_sum, row_loss, lse, pitch, tiles, ignore_index);
    mean_kernel<<<1, MEAN_THREADS, 0, stream>>>(labels, row_loss, loss, rows, ignore_index);
    cudaFreeAsync(log2_sum, stream);
    return (int)cudaGetLastError();
}
