// problem: paged_attention
// verdict: general
// construction: one block per (sequence, kv head); tiles of 16 tokens staged in shared memory once
//   and used by all query heads of the group; fp32 arithmetic

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int THREADS = 256, TILE = 16, MAX_DIM = 256, MAX_GROUP = 16;
constexpr int OUTPUTS = MAX_GROUP * MAX_DIM / THREADS; // output elements of a thread

struct Shape {
    int kv_heads, group, dim, page_size;
    int64_t row, pages_per_seq;
};

struct Tile {
    __align__(16) bf16 q[MAX_GROUP * MAX_DIM];
    __align__(16) bf16 kv[TILE][2 * MAX_DIM + 8]; // 8 more: neighbouring tokens in other banks
    float p[MAX_GROUP][TILE], top[MAX_GROUP], shrink[MAX_GROUP], sum[MAX_GROUP];
};

// Rows of tokens start + {0..count - 1}; the rest of the tile keeps what it had and is not used.
__device__ void stage(Tile &tile, const bf16 *cache, const int *table, int start, int count,
                      const Shape &s)
{
    int vectors = 2 * s.dim / 8; // of 16 bytes in a row
    for (int i = threadIdx.x; i < count * vectors; i += THREADS) {
        int j = i / vectors, t = start + j;
        int64_t slot = (int64_t)table[t / s.page_size] * s.page_size + t % s.page_size;
        reinterpret_cast<uint4 *>(tile.kv[j])[i % vectors] =
            reinterpret_cast<const uint4 *>(cache + slot * s.row)[i % vectors];
    }
}

// One score per (head, token) pair: group * TILE <= 256 pairs, one each.
__device__ void score(Tile &tile, int count, const Shape &s)
{
    int g = threadIdx.x / TILE, j = threadIdx.x % TILE;
    if (g >= s.group || j >= count)
        return;
    const __nv_bfloat162 *q = reinterpret_cast<const __nv_bfloat162 *>(tile.q + g * s.dim);
    const __nv_bfloat162 *k = reinterpret_cast<const __nv_bfloat162 *>(tile.kv[j]);
    float dot = 0;
    for (int i = 0; i < s.dim / 2; i++) {
        float2 x = __bfloat1622float2(q[i]), y = __bfloat1622float2(k[i]);
        dot += x.x * y.x + x.y * y.y;
    }
    tile.p[g][j] = dot / sqrtf((float)s.dim);
}

// Scores to probabilities, one thread per head.
__device__ void soften(Tile &tile, int count, const Shape &s)
{
    int g = threadIdx.x;
    if (g >= s.group)
        return;
    float top = tile.top[g];
    for (int j = 0; j < count; j++)
        top = fmaxf(top, tile.p[g][j]);
    tile.shrink[g] = expf(tile.top[g] - top);
    tile.sum[g] *= tile.shrink[g];
    tile.top[g] = top;
    for (int j = 0; j < count; j++) {
        tile.p[g][j] = expf(tile.p[g][j] - top);
        tile.sum[g] += tile.p[g][j];
    }
}

__global__ void attend(const bf16 *query, const bf16 *cache, const int *tables, const int *lens,
                       bf16 *out, Shape s)
{
    __shared__ Tile tile;
    int64_t b = blockIdx.x / s.kv_heads, at = (int64_t)blockIdx.x * s.group * s.dim;
    int len = lens[b], outputs = s.group * s.dim;
    float acc[OUTPUTS] = {}; // output elements threadIdx.x + 256 i of the group
    cache += blockIdx.x % s.kv_heads * 2 * s.dim;
    for (int i = threadIdx.x; i < outputs; i += THREADS)
        tile.q[i] = query[at + i];
    if (threadIdx.x < MAX_GROUP) {
        tile.top[threadIdx.x] = -INFINITY;
        tile.sum[threadIdx.x] = 0;
    }
    for (int start = 0; start < len; start += TILE) {
        int count = min(TILE, len - start);
        __syncthreads();
        stage(tile, cache, tables + b * s.pages_per_seq, start, count, s);
        __syncthreads();
        score(tile, count, s);
        __syncthreads();
        soften(tile, count, s);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < OUTPUTS; i++) {
            int g = (threadIdx.x + i * THREADS) / s.dim, d = (threadIdx.x + i * THREADS) % s.dim;
            if (g >= s.group)
                break;
            acc[i] *= tile.shrink[g];
            for (int j = 0; j < count; j++)
                acc[i] += tile.p[g][j] * __bfloat162float(tile.kv[j][s.dim + d]);
        }
    }
#pragma unroll
    for (int i = 0; i < OUTPUTS; i++) {
        int o = threadIdx.x + i * THREADS;
        if (o < outputs)
            out[at + o] = __float2bfloat16(acc[i] / tile.sum[o / s.dim]);
    }
}

} // namespace

extern "C" int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                               const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                               int64_t kv_heads, int64_t head_dim, int64_t page_size,
                               int64_t pages, int64_t pages_per_seq, cudaStream_t stream)
{
    Shape s = {(int)kv_heads, (int)(heads / kv_heads), (int)head_dim, (int)page_size,
               kv_heads * 2 * head_dim, pages_per_seq};
    attend<<<(unsigned)(batch * kv_heads), THREADS, 0, stream>>>(query, kv_cache, block_table,
                                                                 seq_lens, out, s);
    return (int)cudaGetLastError();
}
