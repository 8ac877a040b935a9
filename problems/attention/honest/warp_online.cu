// problem: attention
// verdict: general
// construction: a warp for each (query, head), the heads of a kv head side by side in a block, one key at a time

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

constexpr int WARPS = 8, EACH = 8; // elements that a lane has of at most 256
constexpr unsigned ALL = 0xffffffff;

struct Args {
    const __nv_bfloat16 *q, *k, *v;
    const int32_t *cu_q, *cu_kv;
    __nv_bfloat16 *out;
    float *lse;
    int64_t batch, heads, kv_heads, dim, total_q;
    float scale;
    bool causal;
};

// Row r in the order kv head, query, head of the group, so that neighbours read the same keys.
static __device__ void attend(const Args &a, int64_t r)
{
    const int64_t group = a.heads / a.kv_heads, kv_head = r / (a.total_q * group), i = r / group % a.total_q;
    const int64_t row = i * a.heads + kv_head * group + r % group, step = a.kv_heads * a.dim;
    const int lane = threadIdx.x % 32;
    int64_t low = 0, high = a.batch; // the last sequence that starts at or before query i
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (a.cu_q[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    const int64_t first = a.cu_kv[low], end = a.cu_kv[low + 1] - (a.causal ? a.cu_q[low + 1] - 1 - i : 0);
    float q[EACH], acc[EACH], top = -INFINITY, sum = 0;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        q[e] = lane + 32 * e < a.dim ? __bfloat162float(a.q[row * a.dim + lane + 32 * e]) : 0;
        acc[e] = 0;
    }
    for (int64_t t = first; t < end; t++) {
        const int64_t at = t * step + kv_head * a.dim + lane;
        float score = 0;
#pragma unroll
        for (int e = 0; e < EACH; e++)
            if (lane + 32 * e < a.dim)
                score += q[e] * __bfloat162float(a.k[at + 32 * e]);
        for (int offset = 16; offset; offset /= 2)
            score += __shfl_xor_sync(ALL, score, offset);
        score *= a.scale;
        const float best = fmaxf(top, score), shrink = __expf(top - best), p = __expf(score - best);
        sum = sum * shrink + p;
#pragma unroll
        for (int e = 0; e < EACH; e++)
            if (lane + 32 * e < a.dim)
                acc[e] = acc[e] * shrink + p * __bfloat162float(a.v[at + 32 * e]);
        top = best;
    }
#pragma unroll
    for (int e = 0; e < EACH; e++)
        if (lane + 32 * e < a.dim)
            a.out[row * a.dim + lane + 32 * e] = __float2bfloat16(acc[e] / sum);
    if (lane == 0)
        a.lse[row] = top + logf(sum);
}

static __global__ void attend_rows(const Args a)
{
    const int64_t rows = a.total_q * a.heads, step = (int64_t)gridDim.x * WARPS;
    for (int64_t r = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32; r < rows; r += step)
        attend(a, r);
}

extern "C" int attention(const __nv_bfloat16 *q, const __nv_bfloat16 *k, const __nv_bfloat16 *v,
                         const int32_t *cu_seqlens_q, const int32_t *cu_seqlens_kv, __nv_bfloat16 *out, float *lse,
                         int64_t batch, int64_t heads, int64_t kv_heads, int64_t head_dim, int64_t total_q,
                         int64_t total_kv, float scale, bool causal, cudaStream_t stream)
{
    const Args a = {q,     k,     v,        cu_seqlens_q, cu_seqlens_kv, out,   lse,
                    batch, heads, kv_heads, head_dim,     total_q,       scale, causal};
    const int64_t blocks = (total_q * heads + WARPS - 1) / WARPS, most = 1 << 20;
    attend_rows<<<(unsigned)(blocks < most ? blocks : most), 32 * WARPS, 0, stream>>>(a);
    return (int)cudaGetLastError();
}
