// problem: cross_entropy
// verdict: general
// construction: one block of 256 threads a row, two sweeps, trees in shared memory; one block for the mean

#include <cstdint>
#include <cuda_bf16.h>

constexpr int THREADS = 256;

/* The maximum (or sum) of one value per thread, in every thread. fmaxf passes NaN over. */
template <bool MAX>
__device__ float block_reduce(float value)
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

/* A NaN in the row reaches the sum, and so does inf - inf where the maximum is infinite. */
__global__ void row_kernel(const __nv_bfloat16 *logits, const int64_t *labels, float *row_loss, float *lse,
                           int64_t vocab, int64_t pitch, int64_t ignore_index)
{
    const __nv_bfloat16 *x = logits + blockIdx.x * pitch;
    float max = -INFINITY, sum = 0;
    for (int64_t c = threadIdx.x; c < vocab; c += THREADS)
        max = fmaxf(max, __bfloat162float(x[c]));
    max = block_reduce<true>(max);
    for (int64_t c = threadIdx.x; c < vocab; c += THREADS)
        sum += expf(__bfloat162float(x[c]) - max);
    sum = block_reduce<false>(sum);
    if (threadIdx.x == 0) {
        const int64_t label = labels[blockIdx.x];
        const float log_sum = max + logf(sum);
        lse[blockIdx.x] = log_sum;
        row_loss[blockIdx.x] = label == ignore_index ? 0 : log_sum - __bfloat162float(x[label]);
    }
}

__global__ void mean_kernel(const int64_t *labels, const float *row_loss, float *loss, int64_t rows,
                            int64_t ignore_index)
{
    float sum = 0, counted = 0;
    for (int64_t r = threadIdx.x; r < rows; r += THREADS) {
        sum += row_loss[r];
        counted += labels[r] != ignore_index;
    }
    sum = block_reduce<false>(sum);
    counted = block_reduce<false>(counted);
    if (threadIdx.x == 0)
        loss[0] = sum / counted;
}

/* logits is [rows, vocab], its rows pitch apart; labels, row_loss, lse are [rows] */
extern "C" int cross_entropy(const __nv_bfloat16 *logits, const int64_t *labels, float *loss, float *row_loss,
                             float *lse, int64_t rows, int64_t vocab, int64_t pitch, int64_t ignore_index,
                             cudaStream_t stream)
{
    row_kernel<<<(unsigned)rows, THREADS, 0, stream>>>(logits, labels, row_loss, lse, vocab, pitch, ignore_index);
    mean_kernel<<<1, THREADS, 0, stream>>>(labels, row_loss, loss, rows, ignore_index);
    return (int)cudaGetLastError();
}
