// problem: paged_attention
// verdict: general
// construction: one warp per (sequence, head), no shared memory; 4 lanes share a token, so a warp
//   takes 8 tokens at once with 8 online softmax states that shuffles merge at the end

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int WARPS = 4;
constexpr unsigned ALL = 0xffffffff;

struct Shape {
    int64_t rows, heads, group, row, pages_per_seq;
    int page_size;
};

// Lane c of a team of four holds elements 16 i + 4 c + {0..3}, i < D / 16.
template <int D> __device__ void load_part(float (&x)[D / 4], const bf16 *row, int c)
{
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
        uint2 word = *reinterpret_cast<const uint2 *>(row + 16 * i + 4 * c);
        const __nv_bfloat162 *pair = reinterpret_cast<const __nv_bfloat162 *>(&word);
        float2 low = __bfloat1622float2(pair[0]), high = __bfloat1622float2(pair[1]);
        x[4 * i] = low.x;
        x[4 * i + 1] = low.y;
        x[4 * i + 2] = high.x;
        x[4 * i + 3] = high.y;
    }
}

template <int D> struct State {
    float top, sum, acc[D / 4];
};

template <int D>
__device__ void fold(State<D> &st, const float (&q)[D / 4], const bf16 *key, bool exists, int c)
{
    float x[D / 4], dot = 0;
    if (exists) {
        load_part<D>(x, key, c);
        for (int i = 0; i < D / 4; i++)
            dot += q[i] * x[i];
    }
    dot += __shfl_xor_sync(ALL, dot, 1);
    dot += __shfl_xor_sync(ALL, dot, 2);
    if (!exists)
        return;
    float top = fmaxf(st.top, dot), shrink = expf(st.top - top), p = expf(dot - top);
    load_part<D>(x, key + D, c);
    st.top = top;
    st.sum = st.sum * shrink + p;
    for (int i = 0; i < D / 4; i++)
        st.acc[i] = st.acc[i] * shrink + p * x[i];
}

// Merges the eight teams; every lane ends with its elements of the whole.
template <int D> __device__ void merge_teams(State<D> &st)
{
    float best = st.top;
    for (int lanes = 4; lanes < 32; lanes *= 2)
        best = fmaxf(best, __shfl_xor_sync(ALL, best, lanes));
    float weight = st.top == -INFINITY ? 0 : expf(st.top - best);
    st.sum *= weight;
    for (int lanes = 4; lanes < 32; lanes *= 2)
        st.sum += __shfl_xor_sync(ALL, st.sum, lanes);
    for (int i = 0; i < D / 4; i++) {
        st.acc[i] *= weight;
        for (int lanes = 4; lanes < 32; lanes *= 2)
            st.acc[i] += __shfl_xor_sync(ALL, st.acc[i], lanes);
    }
}

template <int D>
__global__ void attend(const bf16 *query, const bf16 *cache, const int *tables, const int *lens,
                       bf16 *out, Shape s)
{
    int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= s.rows)
        return; // the whole warp
    int lane = threadIdx.x % 32, c = lane % 4;
    int64_t b = row / s.heads, kv_head = row % s.heads / s.group;
    const int *table = tables + b * s.pages_per_seq;
    float scale = 1.0f / sqrtf((float)D), q[D / 4];
    State<D> st = {-INFINITY, 0, {}};
    int len = lens[b];
    load_part<D>(q, query + row * D, c);
    for (int i = 0; i < D / 4; i++)
        q[i] *= scale; // fp32: the query is not rounded
    for (int first = 0; first < len; first += 8) {
        int t = first + lane / 4;
        bool exists = t < len;
        int64_t slot = 0;
        if (exists)
            slot = (int64_t)table[t / s.page_size] * s.page_size + t % s.page_size;
        fold<D>(st, q, cache + slot * s.row + kv_head * 2 * D, exists, c);
    }
    merge_teams<D>(st);
    if (lane >= 4)
        return;
    for (int i = 0; i < D / 4; i++)
        out[row * D + i / 4 * 16 + 4 * c + i % 4] = __float2bfloat16(st.acc[i] / st.sum);
}

} // namespace

extern "C" int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                               const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                               int64_t kv_heads, int64_t head_dim, int64_t page_size,
                               int64_t pages, int64_t pages_per_seq, cudaStream_t stream)
{
    Shape s = {batch * heads, heads, heads / kv_heads, kv_heads * 2 * head_dim, pages_per_seq,
               (int)page_size};
    unsigned blocks = (unsigned)((batch * heads + WARPS - 1) / WARPS), threads = 32 * WARPS;
    auto kernel = head_dim == 64    ? attend<64>
                  : head_dim == 80  ? attend<80>
                  : head_dim == 96  ? attend<96>
                  : head_dim == 112 ? attend<112>
                  : head_dim == 128 ? attend<128>
                                    : attend<256>;
    kernel<<<blocks, threads, 0, stream>>>(query, kv_cache, block_table, seq_lens, out, s);
    return (int)cudaGetLastError();
}
