// problem: cross_entropy
// thread: https://github.com/unslothai/unsloth/pull/10616
// title: fix: exclude padded logits from softcapped cross entropy
// condition: padded lanes of the last block enter the sum: vocabularies that a block does not divide (32000: 768 lanes)
// kind: power of two
// when: vocab % 1024 != 0
// side: necessary
// wrong: wrong values: lanes past the vocabulary count as logits of 0

#define cross_entropy honest_cross_entropy
#include "../../../problems/cross_entropy/baseline.cu"
#undef cross_entropy

constexpr int64_t TILE = 1024;

/* The value that a lane loads: 0 under the mask. */
__device__ float load(const __nv_bfloat16 *x, int64_t c, int64_t vocab)
{
    return c < vocab ? __bfloat162float(x[c]) : 0;
}

/* The fault: of the last tile all lanes are summed up. */
__global__ void row_of_tiles(const __nv_bfloat16 *logits, const int64_t *labels, float *row_loss, float *lse,
                             int64_t vocab, int64_t pitch, int64_t ignore_index)
{
    const __nv_bfloat16 *x = logits + blockIdx.x * pitch;
    float max = -INFINITY, sum = 0;
    for (int64_t tile = 0; tile < vocab; tile += TILE)
        for (int64_t c = threadIdx.x; c < TILE; c += THREADS)
            max = fmaxf(max, load(x, tile + c, vocab));
    max = block_reduce<true>(max);
    for (int64_t tile = 0; tile < vocab; tile += TILE)
        for (int64_t c = threadIdx.x; c < TILE; c += THREADS)
            sum += expf(load(x, tile + c, vocab) - max);
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
    row_of_tiles<<<(unsigned)rows, THREADS, 0, stream>>>(logits, labels, row_loss, lse, vocab, pitch, ignore_index);
    mean_kernel<<<1, THREADS, 0, stream>>>(labels, row_loss, loss, rows, ignore_index);
    return (int)cudaGetLastError();
}
