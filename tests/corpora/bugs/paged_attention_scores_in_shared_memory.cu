// problem: paged_attention
// thread: https://github.com/vllm-project/vllm/pull/1154
// title: Allocate more shared memory to attention kernel
// condition: the scores of the longest sequence must fit in shared memory, less 512 floats (8192 tokens were the limit)
// kind: shared memory
// when: (max_len + page_size - 1) / page_size * page_size > 11776
// wrong: refused: the launch asks for more than 48 KiB

#include "paged.cuh"

namespace {

constexpr int BESIDE = 512; /* floats beside the scores */

/* A head of a sequence: all its scores, then all its weights, then the mean of its values. */
__global__ void __launch_bounds__(THREADS) attend_at_once(paged p)
{
    extern __shared__ float shared[];
    float *q = shared, *parts = shared + MAX_DIM, *score = shared + BESIDE;
    const int64_t b = blockIdx.x / p.heads, h = blockIdx.x % p.heads, dim = p.head_dim, at = blockIdx.x * dim;
    const int len = p.lens[b];
    const float scale = 1.0f / sqrtf((float)dim);
    float top = -INFINITY;

    for (int64_t i = threadIdx.x; i < dim; i += THREADS)
        q[i] = __bfloat162float(p.query[at + i]);
    __syncthreads();
    for (int t = threadIdx.x; t < len; t += THREADS) {
        score[t] = scale * dot(q, key_of<honest>(p, b, h, t), dim);
        top = fmaxf(top, score[t]);
    }
    top = block_max(top, parts);
    for (int t = threadIdx.x; t < len; t += THREADS)
        score[t] = expf(score[t] - top);
    __syncthreads();
    for (int64_t i = threadIdx.x; i < dim; i += THREADS) {
        float sum = 0, acc = 0;
        for (int first = 0; first < len; first += THREADS) { /* partial sums: fewer roundings */
            float part = 0, more = 0;
            for (int t = first; t < len && t < first + THREADS; t++) {
                part += score[t];
                more += score[t] * __bfloat162float(key_of<honest>(p, b, h, t)[dim + i]);
            }
            sum += part;
            acc += more;
        }
        p.out[at + i] = __float2bfloat16(acc / sum);
    }
}

} // namespace

extern "C" int paged_attention(PARAMETERS)
{
    const paged p = {ARGUMENTS};
    const size_t bytes = (size_t)(pages_per_seq * page_size + BESIDE) * sizeof(float); /* for the longest */
    attend_at_once<<<(unsigned)(batch * heads), THREADS, bytes, stream>>>(p);
    return (int)cudaGetLastError();
}
