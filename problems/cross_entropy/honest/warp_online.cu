// problem: cross_entropy
// verdict: general
// construction: a warp a row, four running (max, sum) a lane, fast exponential and logarithm; losses of the rows that a
//   block takes by turns added up, one atomic addition a block; the last kernel divides

#include <cstdint>
#include <cuda_bf16.h>

constexpr int WARPS = 8, MOST_BLOCKS = 1024, CHAINS = 4; /* of at most 2^18 / 32 / 4 = 2048 terms */

struct Mean {
    float sum;
    unsigned counted;
};

__device__ void see(float x, float *max, float *sum)
{
    if (x > *max) {
        *sum = *sum * __expf(*max - x) + 1;
        *max = x;
    } else if (x != -INFINITY) {
        *sum += __expf(x - *max); /* NaN comes here, too */
    }
}

/* exp(from - to); where nothing was seen there is nothing to scale. */
__device__ float carry(float from, float to)
{
    return from == -INFINITY ? 1 : __expf(from - to);
}

/* Lanes that saw nothing but -inf have the sum 0, or NaN. */
__device__ float warp_lse(float max, float sum)
{
    float all = max;
    for (int lane = 16; lane > 0; lane /= 2)
        all = fmaxf(all, __shfl_xor_sync(~0u, all, lane));
    sum *= carry(max, all);
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_xor_sync(~0u, sum, lane);
    return isinf(all) ? NAN : all + __logf(sum);
}

__device__ float row_lse(const __nv_bfloat16 *x, int64_t vocab)
{
    float max[CHAINS], sum[CHAINS];
    for (int i = 0; i < CHAINS; i++) {
        max[i] = -INFINITY;
        sum[i] = 0;
    }
    for (int64_t at = threadIdx.x % 32; at < vocab; at += 32 * CHAINS)
#pragma unroll
        for (int i = 0; i < CHAINS; i++)
            if (at + 32 * i < vocab)
                see(__bfloat162float(x[at + 32 * i]), &max[i], &sum[i]);
    const float most = fmaxf(fmaxf(max[0], max[1]), fmaxf(max[2], max[3]));
    float all = 0;
    for (int i = 0; i < CHAINS; i++)
        all += sum[i] * carry(max[i], most);
    return warp_lse(most, all);
}

__global__ void row_kernel(const __nv_bfloat16 *logits, const int64_t *labels, float *row_loss, float *lse, Mean *mean,
                           int64_t rows, int64_t vocab, int64_t pitch, int64_t ignore_index)
{
    __shared__ float sums[WARPS];
    __shared__ unsigned counts[WARPS];
    float losses = 0;
    unsigned counted = 0;
    for (int64_t r = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32; r < rows; r += (int64_t)gridDim.x * WARPS) {
        const __nv_bfloat16 *x = logits + r * pitch;
        const int64_t label = labels[r];
        const float log_sum = row_lse(x, vocab);
        const float value = label == ignore_index ? 0 : log_sum - __bfloat162float(x[label]);
        if (threadIdx.x % 32 == 0) {
            lse[r] = log_sum;
            row_loss[r] = value;
        }
        losses += value;
        counted += label != ignore_index;
    }
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = losses;
        counts[threadIdx.x / 32] = counted;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < WARPS; w++) {
            losses += sums[w];
            counted += counts[w];
        }
        atomicAdd(&mean->sum, losses);
        atomicAdd(&mean->counted, counted);
    }
}

__global__ void divide(const Mean *mean, float *loss)
{
    loss[0] = mean->sum / (float)mean->counted;
}

extern "C" int cross_entropy(const __nv_bfloat16 *logits, const int64_t *labels, float *loss, float *row_loss,
                             float *lse, int64_t rows, int64_t vocab, int64_t pitch, int64_t ignore_index,
                             cudaStream_t stream)
{
    const int64_t blocks = (rows + WARPS - 1) / WARPS;
    Mean *mean;
    if (cudaMallocAsync(&mean, sizeof *mean, stream) != cudaSuccess)
        return 1;
    cudaMemsetAsync(mean, 0, sizeof *mean, stream);
    row_kernel<<<(unsigned)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS), 32 * WARPS, 0, stream>>>(
        logits, labels, row_loss, lse, mean, rows, vocab, pitch, ignore_index);
    divide<<<1, 1, 0, stream>>>(mean, loss);
    cudaFreeAsync(mean, stream);
    return (int)cudaGetLastError();
}
