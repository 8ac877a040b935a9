/* A decode step over a paged cache, for candidates that differ from an honest one in a step. A block for each
 * (sequence, head) takes scores of 128 tokens at a time and a running maximum, then their values. A candidate
 * inherits from `honest` and hides a step. */
#include <cuda_bf16.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int THREADS = 128, WARPS = THREADS / 32, MAX_DIM = 256;

struct paged {
    const bf16 *query, *cache;
    const int32_t *table, *lens;
    bf16 *out;
    int64_t batch, heads, kv_heads, head_dim, page_size, pages, pages_per_seq;
};

struct honest {
    /* Called by all threads. */
    static __device__ int64_t length(const paged &p, int64_t b)
    {
        return p.lens[b];
    }

    static __device__ int64_t page_size(const paged &p)
    {
        return p.page_size;
    }

    static __device__ int64_t group(const paged &p)
    {
        return p.heads / p.kv_heads;
    }
};

/* The key of token t of sequence b and head h; its value is head_dim further. */
template <class steps> __device__ const bf16 *key_of(const paged &p, int64_t b, int64_t h, int64_t t)
{
    const int64_t size = steps::page_size(p), page = p.table[b * p.pages_per_seq + t / size];
    const int64_t slot = page * size + t % size;
    return p.cache + (slot * p.kv_heads + h / steps::group(p)) * 2 * p.head_dim;
}

__device__ float dot(const float *q, const bf16 *key, int64_t dim)
{
    float sum = 0;
    for (int64_t i = 0; i < dim; i += 2) {
        const float2 pair = __bfloat1622float2(*(const __nv_bfloat162 *)(key + i));
        sum += q[i] * pair.x + q[i + 1] * pair.y;
    }
    return sum;
}

/* The maximum of all threads' x. `parts` [WARPS] is free again when all have passed the next barrier. */
__device__ float block_max(float x, float *parts)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, lanes));
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = x;
    __syncthreads();
    x = parts[0];
    for (int w = 1; w < WARPS; w++)
        x = fmaxf(x, parts[w]);
    return x;
}

template <class steps> __global__ void __launch_bounds__(THREADS) attend(paged p)
{
    __shared__ float q[MAX_DIM], weight[THREADS], parts[WARPS];
    __shared__ const bf16 *key[THREADS];
    const int64_t b = blockIdx.x / p.heads, h = blockIdx.x % p.heads, dim = p.head_dim, at = blockIdx.x * dim;
    const int64_t len = steps::length(p, b);
    const float scale = 1.0f / sqrtf((float)dim);
    float top = -INFINITY, sum = 0, acc[MAX_DIM / THREADS] = {};

    for (int64_t i = threadIdx.x; i < dim; i += THREADS)
        q[i] = __bfloat162float(p.query[at + i]);
    for (int64_t first = 0; first < len; first += THREADS) {
        const int64_t mine = first + threadIdx.x;
        const int count = (int)min(len - first, (int64_t)THREADS);
        float score = -INFINITY, part = 0, more[MAX_DIM / THREADS] = {};
        __syncthreads(); /* q is there; the last weights are not needed any more */
        if (mine < len) {
            key[threadIdx.x] = key_of<steps>(p, b, h, mine);
            score = scale * dot(q, key[threadIdx.x], dim);
        }
        const float best = fmaxf(top, block_max(score, parts)), shrink = expf(top - best);
        weight[threadIdx.x] = expf(score - best);
        __syncthreads();
        for (int t = 0; t < count; t++) {
            part += weight[t];
            for (int j = 0; j < MAX_DIM / THREADS; j++)
                if (threadIdx.x + j * THREADS < dim)
                    more[j] += weight[t] * __bfloat162float(key[t][dim + threadIdx.x + j * THREADS]);
        }
        sum = sum * shrink + part;
        for (int j = 0; j < MAX_DIM / THREADS; j++)
            acc[j] = acc[j] * shrink + more[j];
        top = best;
    }
    for (int j = 0; j < MAX_DIM / THREADS; j++)
        if (threadIdx.x + j * THREADS < dim)
            p.out[at + threadIdx.x + j * THREADS] = __float2bfloat16(acc[j] / sum);
}

template <class steps> int paged_run(const paged &p, cudaStream_t stream)
{
    attend<steps><<<(unsigned)(p.batch * p.heads), THREADS, 0, stream>>>(p);
    return (int)cudaGetLastError();
}

} // namespace

#define PARAMETERS                                                                                           \
    const bf16 *query, const bf16 *cache, const int32_t *table, const int32_t *lens, bf16 *out,              \
        int64_t batch, int64_t heads, int64_t kv_heads, int64_t head_dim, int64_t page_size, int64_t pages,  \
        int64_t pages_per_seq, cudaStream_t stream
#define ARGUMENTS                                                                                            \
    query, cache, table, lens, out, batch, heads, kv_heads, head_dim, page_size, pages, pages_per_seq
