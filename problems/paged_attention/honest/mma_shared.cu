// problem: paged_attention
// verdict: general
// construction: tensor cores (mma.m16n8k16), one block per (sequence, kv head), tiles of 32 tokens
//   in shared memory; warps share out tokens for the scores and columns for the values

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int WARPS = 4, THREADS = 32 * WARPS, TILE = 32, ROWS = 16, PAD = 8;

struct Shape {
    int kv_heads, group, page_size;
    int64_t pages_per_seq;
};

template <int D> struct Shared {
    __align__(16) bf16 q[ROWS][D + PAD];
    __align__(16) bf16 kv[TILE][2 * D + PAD];
    __align__(16) bf16 p[ROWS][TILE + PAD];
    float score[ROWS][TILE + 1], top[ROWS], sum[ROWS], shrink[ROWS];
};

// Lane (g, c) = (l / 4, l % 4) holds a0 (g, 2c..), a1 (g + 8, 2c..), a2 (g, 2c + 8..) and
// a3 (g + 8, 2c + 8..) of A; b0 (2c.., g), b1 (2c + 8.., g) of B; c0, c1 (g, 2c..) and
// c2, c3 (g + 8, 2c..) of C.
__device__ void mma(float (&c)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,
                    uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

__device__ uint32_t word(const bf16 *p)
{
    return *reinterpret_cast<const uint32_t *>(p);
}

// Two values of one column, from neighbouring tokens.
__device__ uint32_t pair(bf16 low, bf16 high)
{
    return __bfloat16_as_ushort(low) | (uint32_t)__bfloat16_as_ushort(high) << 16;
}

// Tokens first + {0..31}; rows of tokens that do not exist become zeros, so that nothing that is
// left in shared memory or in a free slot of the cache meets a probability of 0.
template <int D>
__device__ void stage(Shared<D> &sh, const bf16 *cache, const int *table, int first, int len,
                      const Shape &s)
{
    constexpr int VECTORS = 2 * D / 8;
    for (int i = threadIdx.x; i < TILE * VECTORS; i += THREADS) {
        int t = first + i / VECTORS;
        uint4 x = {0, 0, 0, 0};
        if (t < len) {
            int64_t slot = (int64_t)table[t / s.page_size] * s.page_size + t % s.page_size;
            x = reinterpret_cast<const uint4 *>(cache + slot * s.kv_heads * 2 * D)[i % VECTORS];
        }
        reinterpret_cast<uint4 *>(sh.kv[i / VECTORS])[i % VECTORS] = x;
    }
}

// Each warp: scores of its 8 tokens of the tile.
template <int D> __device__ void score(Shared<D> &sh)
{
    int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, c = threadIdx.x % 4;
    float s[4] = {}, scale = 1.0f / sqrtf((float)D);
    for (int k = 0; k < D; k += 16) {
        const bf16 *low = &sh.q[g][k + 2 * c], *high = &sh.q[g + 8][k + 2 * c];
        const bf16 *key = &sh.kv[8 * warp + g][k + 2 * c];
        mma(s, word(low), word(high), word(low + 8), word(high + 8), word(key), word(key + 8));
    }
    for (int r = 0; r < 4; r++)
        sh.score[g + r / 2 * 8][8 * warp + 2 * c + r % 2] = s[r] * scale;
}

// 8 threads per row; the sum is of the rounded probabilities.
template <int D> __device__ void soften(Shared<D> &sh, int count)
{
    int row = threadIdx.x / 8, part = threadIdx.x % 8;
    float old = sh.top[row], top = old, sum = 0;
    for (int j = part; j < count; j += 8)
        top = fmaxf(top, sh.score[row][j]);
    for (int lanes = 1; lanes < 8; lanes *= 2)
        top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, lanes));
    for (int j = part; j < TILE; j += 8) {
        bf16 p = __float2bfloat16(j < count ? expf(sh.score[row][j] - top) : 0);
        sh.p[row][j] = p;
        sum += __bfloat162float(p);
    }
    for (int lanes = 1; lanes < 8; lanes *= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, lanes);
    __syncwarp(); // all eight have read the old maximum
    if (part == 0) {
        sh.shrink[row] = expf(old - top);
        sh.sum[row] = sh.sum[row] * sh.shrink[row] + sum;
        sh.top[row] = top;
    }
}

// Output tiles warp, warp + 4, ... of 8 columns.
template <int D> __device__ void add_values(const Shared<D> &sh, float (*o)[4])
{
    int g = threadIdx.x % 32 / 4, c = threadIdx.x % 4, n = 0;
    for (int tile = threadIdx.x / 32; tile < D / 8; tile += WARPS, n++) {
        for (int r = 0; r < 4; r++)
            o[n][r] *= sh.shrink[g + r / 2 * 8];
        for (int k = 0; k < TILE; k += 16) {
            const bf16 *low = &sh.p[g][k + 2 * c], *high = &sh.p[g + 8][k + 2 * c];
            const bf16(*v)[2 * D + PAD] = &sh.kv[k + 2 * c];
            int d = D + 8 * tile + g;
            mma(o[n], word(low), word(high), word(low + 8), word(high + 8), pair(v[0][d], v[1][d]),
                pair(v[8][d], v[9][d]));
        }
    }
}

template <int D>
__global__ void __launch_bounds__(THREADS)
    attend(const bf16 *query, const bf16 *cache, const int *tables, const int *lens, bf16 *out,
           Shape s)
{
    __shared__ Shared<D> sh;
    int64_t b = blockIdx.x / s.kv_heads, at = (int64_t)blockIdx.x * s.group * D;
    int len = lens[b], g = threadIdx.x % 32 / 4, c = threadIdx.x % 4, n = 0;
    float o[(D / 8 + WARPS - 1) / WARPS][4] = {};
    for (int i = threadIdx.x; i < ROWS * D; i += THREADS)
        sh.q[i / D][i % D] = i / D < s.group ? query[at + i] : __float2bfloat16(0);
    if (threadIdx.x < ROWS) {
        sh.top[threadIdx.x] = -INFINITY;
        sh.sum[threadIdx.x] = 0;
    }
    for (int first = 0; first < len; first += TILE) {
        __syncthreads();
        stage<D>(sh, cache + blockIdx.x % s.kv_heads * 2 * D, tables + b * s.pages_per_seq, first,
                 len, s);
        __syncthreads();
        score<D>(sh);
        __syncthreads();
        soften<D>(sh, min(TILE, len - first));
        __syncthreads();
        add_values<D>(sh, o);
    }
    for (int tile = threadIdx.x / 32; tile < D / 8; tile += WARPS, n++) {
        for (int r = 0; r < 4; r++) {
            int row = g + r / 2 * 8;
            if (row < s.group)
                out[at + row * D + 8 * tile + 2 * c + r % 2] =
                    __float2bfloat16(o[n][r] / sh.sum[row]);
        }
    }
}

} // namespace

extern "C" int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                               const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                               int64_t kv_heads, int64_t head_dim, int64_t page_size,
                               int64_t pages, int64_t pages_per_seq, cudaStream_t stream)
{
    Shape s = {(int)kv_heads, (int)(heads / kv_heads), (int)page_size, pages_per_seq};
    auto kernel = head_dim == 64    ? attend<64>
                  : head_dim == 80  ? attend<80>
                  : head_dim == 96  ? attend<96>
                  : head_dim == 112 ? attend<112>
                  : head_dim == 128 ? attend<128>
                                    : attend<256>;
    kernel<<<(unsigned)(batch * kv_heads), THREADS, 0, stream>>>(query, kv_cache, block_table,
                                                                 seq_lens, out, s);
    return (int)cudaGetLastError();
}
