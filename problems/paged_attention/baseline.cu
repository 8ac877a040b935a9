// problem: paged_attention
// verdict: general
// construction: one block per (sequence, head); each of 8 warps folds every eighth token into an
//   online softmax, then the warps are merged

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

constexpr int WARPS = 8, MAX_DIM = 256, PAIRS = MAX_DIM / 64; // pairs of elements of a lane

struct Shape {
    int heads, group, dim, page_size;
    int64_t row, pages_per_seq; // row: elements from one slot of the cache to the next
};

struct Partial {
    float top, sum, acc[MAX_DIM];
};

__device__ float warp_sum(float x)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        x += __shfl_xor_sync(0xffffffff, x, lanes);
    return x;
}

// Elements d and d + 1 as floats, zeros past the end of the row.
__device__ float2 load_pair(const __nv_bfloat16 *row, int d, int dim)
{
    if (d >= dim)
        return {0, 0};
    return __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162 *>(row + d));
}

// One warp: tokens warp, warp + 8, ... below len. Lane l holds elements 64 i + 2 l + {0, 1}.
__device__ void fold_tokens(const __nv_bfloat16 *query, const __nv_bfloat16 *cache,
                            const int *table, int len, Shape s, Partial *part)
{
    int lane = threadIdx.x % 32;
    float scale = 1.0f / sqrtf((float)s.dim), top = -INFINITY, sum = 0;
    float2 q[PAIRS], acc[PAIRS] = {};
    for (int i = 0; i < PAIRS; i++)
        q[i] = load_pair(query, 64 * i + 2 * lane, s.dim);
    for (int t = threadIdx.x / 32; t < len; t += WARPS) {
        int64_t slot = (int64_t)table[t / s.page_size] * s.page_size + t % s.page_size;
        const __nv_bfloat16 *key = cache + slot * s.row;
        float dot = 0;
        for (int i = 0; i < PAIRS; i++) {
            float2 k = load_pair(key, 64 * i + 2 * lane, s.dim);
            dot += q[i].x * k.x + q[i].y * k.y;
        }
        float score = warp_sum(dot) * scale, higher = fmaxf(top, score);
        float shrink = expf(top - higher), p = expf(score - higher);
        top = higher;
        sum = sum * shrink + p;
        for (int i = 0; i < PAIRS; i++) {
            float2 v = load_pair(key + s.dim, 64 * i + 2 * lane, s.dim);
            acc[i] = {acc[i].x * shrink + p * v.x, acc[i].y * shrink + p * v.y};
        }
    }
    part->top = top;
    part->sum = sum;
    for (int i = 0; i < PAIRS; i++) {
        part->acc[64 * i + 2 * lane] = acc[i].x;
        part->acc[64 * i + 2 * lane + 1] = acc[i].y;
    }
}

__global__ void attend(const __nv_bfloat16 *query, const __nv_bfloat16 *cache, const int *table,
                       const int *lens, __nv_bfloat16 *out, Shape s)
{
    __shared__ Partial part[WARPS];
    int64_t b = blockIdx.x / s.heads, h = blockIdx.x % s.heads, at = (int64_t)blockIdx.x * s.dim;
    fold_tokens(query + at, cache + h / s.group * 2 * s.dim, table + b * s.pages_per_seq, lens[b],
                s, &part[threadIdx.x / 32]);
    __syncthreads();
    float top = -INFINITY, sum = 0, acc = 0;
    for (int w = 0; w < WARPS; w++)
        top = fmaxf(top, part[w].top);
    if (threadIdx.x >= s.dim)
        return;
    for (int w = 0; w < WARPS; w++) { // a warp without tokens has top = -inf: weight 0
        float weight = expf(part[w].top - top);
        sum += weight * part[w].sum;
        acc += weight * part[w].acc[threadIdx.x];
    }
    out[at + threadIdx.x] = __float2bfloat16(acc / sum);
}

} // namespace

extern "C" int paged_attention(const __nv_bfloat16 *query, const __nv_bfloat16 *kv_cache,
                               const int32_t *block_table, const int32_t *seq_lens,
                               __nv_bfloat16 *out, int64_t batch, int64_t heads, int64_t kv_heads,
                               int64_t head_dim, int64_t page_size, int64_t pages,
                               int64_t pages_per_seq, cudaStream_t stream)
{
    Shape s = {(int)heads, (int)(heads / kv_heads), (int)head_dim, (int)page_size,
               kv_heads * 2 * head_dim, pages_per_seq};
    attend<<<(unsigned)(batch * heads), WARPS * 32, 0, stream>>>(query, kv_cache, block_table,
                                                                 seq_lens, out, s);
    return (int)cudaGetLastError();
}
