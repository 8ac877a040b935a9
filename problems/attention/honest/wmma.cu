// problem: attention
// verdict: general
// construction: wmma, a warp for 16 queries of a head; maxima and sums of all keys first, then normalized probabilities
//   in bf16 times values

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <mma.h>
#include <stdint.h>

namespace {

using namespace nvcuda;
typedef __nv_bfloat16 bf16;

constexpr int ROWS = 16, KEYS = 32, PAD = 8;

struct Args {
    const bf16 *q, *k, *v;
    const int32_t *cu_q, *cu_kv;
    bf16 *out;
    float *lse;
    int64_t batch, heads, kv_heads;
    float scale;
    bool causal;
};

template <int D> struct Tiles {
    bf16 q[ROWS][D + PAD], keys[KEYS][D + PAD], p[ROWS][KEYS + PAD];
    float s[ROWS][KEYS + PAD], out[ROWS][D + PAD];
};

// The part of a sequence that a block processes: 16 queries from `first` on; the sequence has `queries` and `keys`.
struct Task {
    int64_t query, key;
    int first, queries, keys;
};

// Rows of D elements, `step` apart; zeros from `count` on.
template <int D, int N> __device__ void fetch(bf16 (*to)[D + PAD], const bf16 *from, int64_t step, int count)
{
    const uint4 nothing = {0, 0, 0, 0};
    __syncwarp();
    for (int i = threadIdx.x; i < N * D / 8; i += 32) {
        const int r = i / (D / 8), d = i % (D / 8) * 8;
        *(uint4 *)&to[r][d] = r < count ? *(const uint4 *)(from + r * step + d) : nothing;
    }
    __syncwarp();
}

// t.s[r][i] becomes the score of key start + i in units of log2, or -infinity.
template <int D> __device__ void score(const Args &a, const Task &task, const bf16 *k, int start, Tiles<D> &t)
{
    fetch<D, KEYS>(t.keys, k + start * (a.kv_heads * D), a.kv_heads * D, task.keys - start);
    for (int n = 0; n < KEYS; n += 16) {
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
        wmma::fill_fragment(sum, 0.0f);
        for (int d = 0; d < D; d += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major> x;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::col_major> y;
            wmma::load_matrix_sync(x, &t.q[0][d], D + PAD);
            wmma::load_matrix_sync(y, &t.keys[n][d], D + PAD);
            wmma::mma_sync(sum, x, y, sum);
        }
        wmma::store_matrix_sync(&t.s[0][n], sum, KEYS + PAD, wmma::mem_row_major);
    }
    __syncwarp();
    for (int i = threadIdx.x; i < ROWS * KEYS; i += 32) {
        const int r = i / KEYS, key = start + i % KEYS;
        const int sees = a.causal ? task.first + r + 1 + task.keys - task.queries : task.keys;
        float *s = &t.s[r][i % KEYS];
        *s = key < sees && key < task.keys ? *s * a.scale * 1.4426950408889634f : -INFINITY;
    }
    __syncwarp();
}

template <int D> __device__ void attend(const Args &a, const Task &task, int64_t head, Tiles<D> &t)
{
    const int64_t kv_head = head / (a.heads / a.kv_heads), row = (task.query + task.first) * a.heads + head;
    const bf16 *k = a.k + (task.key * a.kv_heads + kv_head) * D, *v = a.v + (k - a.k);
    const int count = min(ROWS, task.queries - task.first), r = threadIdx.x % ROWS, half = threadIdx.x / ROWS;
    const int end = a.causal ? task.first + count + task.keys - task.queries : task.keys;
    fetch<D, ROWS>(t.q, a.q + row * D, a.heads * D, count);

    float top = -INFINITY, sum = 0; // two lanes have a row, each a half of the keys of a tile
    for (int start = 0; start < end; start += KEYS) {
        float best = top;
        score<D>(a, task, k, start, t);
        for (int i = half * KEYS / 2; i < (half + 1) * KEYS / 2; i++)
            best = fmaxf(best, t.s[r][i]);
        best = fmaxf(best, __shfl_xor_sync(0xffffffff, best, ROWS));
        sum *= exp2f(top - best);
        for (int i = half * KEYS / 2; i < (half + 1) * KEYS / 2; i++)
            sum += exp2f(t.s[r][i] - best);
        top = best;
    }
    sum += __shfl_xor_sync(0xffffffff, sum, ROWS);
    const float lse = top + log2f(sum);

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> out[D / 16];
    for (int d = 0; d < D / 16; d++)
        wmma::fill_fragment(out[d], 0.0f);
    for (int start = 0; start < end; start += KEYS) {
        score<D>(a, task, k, start, t);
        for (int i = half * KEYS / 2; i < (half + 1) * KEYS / 2; i++)
            t.p[r][i] = __float2bfloat16(exp2f(t.s[r][i] - top) / sum);
        fetch<D, KEYS>(t.keys, v + start * (a.kv_heads * D), a.kv_heads * D, task.keys - start);
        for (int n = 0; n < KEYS; n += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major> x;
            wmma::load_matrix_sync(x, &t.p[0][n], KEYS + PAD);
            for (int d = 0; d < D / 16; d++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::row_major> y;
                wmma::load_matrix_sync(y, &t.keys[n][16 * d], D + PAD);
                wmma::mma_sync(out[d], x, y, out[d]);
            }
        }
    }
    for (int d = 0; d < D / 16; d++)
        wmma::store_matrix_sync(&t.out[0][16 * d], out[d], D + PAD, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < count * D; i += 32)
        a.out[(row + i / D * a.heads) * D + i % D] = __float2bfloat16(t.out[i / D][i % D]);
    if (half == 0 && r < count)
        a.lse[row + r * a.heads] = lse * 0.6931471805599453f;
}

template <int D> __global__ void __launch_bounds__(32) attend_tiles(const Args a)
{
    __shared__ __align__(32) Tiles<D> tiles;
    int64_t tile = blockIdx.x / a.heads;
    for (int64_t b = 0; b < a.batch; b++) {
        const int queries = a.cu_q[b + 1] - a.cu_q[b], count = (queries + ROWS - 1) / ROWS;
        if (tile < count) {
            const Task task = {a.cu_q[b], a.cu_kv[b], (int)tile * ROWS, queries, a.cu_kv[b + 1] - a.cu_kv[b]};
            attend<D>(a, task, blockIdx.x % a.heads, tiles);
            return;
        }
        tile -= count;
    }
}

// A sequence has one tile that is not full at the most.
template <int D> int launch(const Args &a, int64_t total_q, cudaStream_t stream)
{
    attend_tiles<D><<<(unsigned)((total_q / ROWS + a.batch) * a.heads), 32, 0, stream>>>(a);
    return (int)cudaGetLastError();
}

} // namespace

extern "C" int attention(const bf16 *q, const bf16 *k, const bf16 *v, const int32_t *cu_seqlens_q,
                         const int32_t *cu_seqlens_kv, bf16 *out, float *lse, int64_t batch, int64_t heads,
                         int64_t kv_heads, int64_t head_dim, int64_t total_q, int64_t total_kv, float scale,
                         bool causal, cudaStream_t stream)
{
    const Args a = {q, k, v, cu_seqlens_q, cu_seqlens_kv, out, lse, batch, heads, kv_heads, scale, causal};
    switch (head_dim) {
    case 64: return launch<64>(a, total_q, stream);
    case 80: return launch<80>(a, total_q, stream);
    case 96: return launch<96>(a, total_q, stream);
    case 112: return launch<112>(a, total_q, stream);
    case 128: return launch<128>(a, total_q, stream);
    case 192: return launch<192>(a, total_q, stream);
    case 256: return launch<256>(a, total_q, stream);
    }
    return 1;
}
