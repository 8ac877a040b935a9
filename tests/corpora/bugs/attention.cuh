/* Ragged attention for candidates that differ from an honest one in a step. A block for each (query, head)
 * takes scores of 64 keys at a time and a running maximum, then their values. A candidate inherits from
 * `honest` and hides a step, or works on `struct row`. */
#include <cuda_bf16.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int TILE = 64, MAX_DIM = 256;

struct call {
    const bf16 *q, *k, *v;
    const int32_t *cu_q, *cu_kv;
    bf16 *out;
    float *lse;
    int64_t batch, heads, kv_heads, head_dim, total_q, total_kv;
    float scale;
    bool causal;
};

/* Head h of query i: its sequence's keys and values, `step` elements apart, and how many of them it sees. */
struct row {
    const bf16 *q, *k, *v;
    int64_t all, keys, step;
    float scale;
    bool causal;
};

__device__ row row_of(const call &c, int64_t i, int64_t h)
{
    int64_t b = 0;
    while (c.cu_q[b + 1] <= i)
        b++;
    const int64_t first = c.cu_kv[b], all = c.cu_kv[b + 1] - first;
    const int64_t hidden = c.causal ? c.cu_q[b + 1] - 1 - i : 0;
    const int64_t start = (first * c.kv_heads + h / (c.heads / c.kv_heads)) * c.head_dim;
    const bf16 *query = c.q + (i * c.heads + h) * c.head_dim;
    return {query, c.k + start, c.v + start, all, all - hidden, c.kv_heads * c.head_dim, c.scale, c.causal};
}

__device__ float2 pair_at(const bf16 *at)
{
    return __bfloat1622float2(*(const __nv_bfloat162 *)at);
}

struct honest {
    static __device__ int64_t dim(const call &c)
    {
        return c.head_dim;
    }

    /* The score of key t, -infinity from r.keys on; `q` is the query. */
    static __device__ float score(const row &r, const float *q, int64_t dim, int64_t t)
    {
        float sum = 0;
        if (t >= r.keys)
            return -INFINITY;
        for (int64_t i = 0; i < dim; i += 2) {
            const float2 key = pair_at(r.k + t * r.step + i);
            sum += q[i] * key.x + q[i + 1] * key.y;
        }
        return r.scale * sum;
    }
};

/* The maximum of all TILE threads' x. `parts` is free again when all have passed the next barrier. */
__device__ float block_max(float x, float *parts)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, lanes));
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = x;
    __syncthreads();
    return fmaxf(parts[0], parts[1]);
}

template <class steps> __global__ void __launch_bounds__(TILE) attend(call c)
{
    __shared__ float q[MAX_DIM], weight[TILE], parts[TILE / 32];
    const int64_t at = blockIdx.x, dim = steps::dim(c), me = threadIdx.x;
    const row r = row_of(c, at / c.heads, at % c.heads);
    float top = -INFINITY, sum = 0, acc[MAX_DIM / TILE] = {};

    for (int64_t i = me; i < dim; i += TILE)
        q[i] = __bfloat162float(r.q[i]);
    for (int64_t first = 0; first < r.keys; first += TILE) {
        const int count = (int)min(r.keys - first, (int64_t)TILE);
        float part = 0, more[MAX_DIM / TILE] = {};
        __syncthreads(); /* q is there; the last weights are not needed any more */
        const float score = steps::score(r, q, dim, first + me);
        const float best = fmaxf(top, block_max(score, parts)), shrink = expf(top - best);
        weight[me] = expf(score - best);
        __syncthreads();
        for (int t = 0; t < TILE; t++) /* all of a tile: a key that is not seen has no weight */
            part += weight[t];
        for (int t = 0; t < count; t++)
            for (int j = 0; j < MAX_DIM / TILE; j++)
                if (me + j * TILE < dim)
                    more[j] += weight[t] * __bfloat162float(r.v[(first + t) * r.step + me + j * TILE]);
        sum = sum * shrink + part;
        for (int j = 0; j < MAX_DIM / TILE; j++)
            acc[j] = acc[j] * shrink + more[j];
        top = best;
    }
    for (int j = 0; j < MAX_DIM / TILE; j++)
        if (me + j * TILE < dim)
            c.out[at * dim + me + j * TILE] = __float2bfloat16(acc[j] / sum);
    if (me == 0)
        c.lse[at] = top + logf(sum);
}

template <class steps> int attention_run(const call &c, cudaStream_t stream)
{
    attend<steps><<<(unsigned)(c.total_q * c.heads), TILE, 0, stream>>>(c);
    return (int)cudaGetLastError();
}

} // namespace

#define PARAMETERS                                                                                           \
    const bf16 *q, const bf16 *k, const bf16 *v, const int32_t *cu_q, const int32_t *cu_kv, bf16 *out,       \
        float *lse, int64_t batch, int64_t heads, int64_t kv_heads, int64_t head_dim, int64_t total_q,       \
        int64_t total_kv, float scale, bool causal, cudaStream_t stream
#define ARGUMENTS                                                                                            \
    q, k, v, cu_q, cu_kv, out, lse, batch, heads, kv_heads, head_dim, total_q, total_kv, scale, causal
