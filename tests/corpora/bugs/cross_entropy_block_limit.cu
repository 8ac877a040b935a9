// problem: cross_entropy
// thread: https://github.com/unslothai/unsloth/issues/91
// title: Vocab size of 102400 exceeds the max CUDA blocksize of 65536 using A40 GPU
// condition: vocabularies above 65536
// kind: threshold
// when: vocab > 65536
// wrong: refused: one block holds a row, padded to a power of two, in shared memory, and 2^17 elements do not fit

#define cross_entropy honest_cross_entropy
#include "../../../problems/cross_entropy/baseline.cu"
#undef cross_entropy

/* A row of `block` elements in shared memory, those past the vocabulary -inf. A thread reads only places that
 * it has written itself. */
__global__ void row_of_a_block(const __nv_bfloat16 *logits, const int64_t *labels, float *row_loss, float *lse,
                               int64_t vocab, int64_t pitch, int64_t ignore_index, int block)
{
    extern __shared__ __nv_bfloat16 row[];
    const __nv_bfloat16 *x = logits + blockIdx.x * pitch;
    float max = -INFINITY, sum = 0;
    for (int c = threadIdx.x; c < block; c += THREADS) {
        row[c] = c < vocab ? x[c] : __float2bfloat16(-INFINITY);
        max = fmaxf(max, __bfloat162float(row[c]));
    }
    max = block_reduce<true>(max);
    for (int c = threadIdx.x; c < block; c += THREADS)
        sum += expf(__bfloat162float(row[c]) - max);
    sum = block_reduce<false>(sum);
    if (threadIdx.x == 0) {
        const int64_t label = labels[blockIdx.x];
        lse[blockIdx.x] = max + logf(sum);
        row_loss[blockIdx.x] = label == ignore_index ? 0 : lse[blockIdx.x] - __bfloat162float(x[label]);
    }
}

extern "C" int cross_entropy(const __nv_bfloat16 *logits, const int64_t *labels, float *loss, float *row_loss,
                             float *lse, int64_t rows, int64_t vocab, int64_t pitch, int64_t ignore_index,
                             cudaStream_t stream)
{
    int block = 1;
    while (block < vocab)
        block *= 2;
    const size_t bytes = (size_t)block * sizeof *logits;
    const cudaError_t status =
        cudaFuncSetAttribute(row_of_a_block, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (status != cudaSuccess) {
        (void)cudaGetLastError(); /* no error of the next call */
        return (int)status;
    }
    row_of_a_block<<<(unsigned)rows, THREADS, bytes, stream>>>(logits, labels, row_loss, lse, vocab, pitch,
                                                              ignore_index, block);
    mean_kernel<<<1, THREADS, 0, stream>>>(labels, row_loss, loss, rows, ignore_index);
    return (int)cudaGetLastError();
}
