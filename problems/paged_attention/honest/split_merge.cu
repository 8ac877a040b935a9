// problem: paged_attention
// verdict: general
// construction: flash decoding in fp32: a block per (head, split of the tokens) leaves maximum, sum
//   and weighted values in a stream-ordered workspace; a second kernel merges the splits

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int WARPS = 4, MAX_DIM = 256, PAIRS = MAX_DIM / 64;

struct Args {
    const bf16 *query, *cache;
    const int *table, *lens;
    bf16 *out;
    float *space; // [batch * heads, splits, dim + 2]: values, maximum, sum
    int heads, group, dim, page_size, splits;
    int64_t row, pages_per_seq;
};

__device__ float2 load_pair(const bf16 *row, int d, int dim)
{
    if (d >= dim)
        return make_float2(0, 0);
    return __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162 *>(row + d));
}

// Scores of count tokens into p, one warp per token in turn; key[j] is kept for the values.
__device__ void score_tokens(const Args &a, const bf16 *query, const bf16 *const *key, int count,
                             float *p)
{
    int lane = threadIdx.x % 32;
    float2 q[PAIRS];
    float scale = 1.0f / sqrtf((float)a.dim);
    for (int i = 0; i < PAIRS; i++)
        q[i] = load_pair(query, 64 * i + 2 * lane, a.dim);
    for (int j = threadIdx.x / 32; j < count; j += WARPS) {
        float dot = 0;
        for (int i = 0; i < PAIRS; i++) {
            float2 k = load_pair(key[j], 64 * i + 2 * lane, a.dim);
            dot += q[i].x * k.x + q[i].y * k.y;
        }
        for (int lanes = 16; lanes > 0; lanes /= 2)
            dot += __shfl_xor_sync(0xffffffff, dot, lanes);
        if (lane == 0)
            p[j] = dot * scale;
    }
}

constexpr int BLOCK = 32 * WARPS; // tokens at a time, one per thread for the look-up

__global__ void attend_split(Args a)
{
    __shared__ const bf16 *key[BLOCK];
    __shared__ float p[BLOCK];
    int64_t head = blockIdx.x / a.splits, split = blockIdx.x % a.splits, b = head / a.heads;
    const int *table = a.table + b * a.pages_per_seq;
    const bf16 *cache = a.cache + head % a.heads / a.group * 2 * a.dim;
    int len = a.lens[b], chunk = (len + a.splits - 1) / a.splits;
    int64_t start = split * chunk, end = start + chunk < len ? start + chunk : len;
    float top = -INFINITY, sum = 0, acc[2] = {0, 0}; // thread t holds elements t and t + 128
    for (; start < end; start += BLOCK) {
        int count = (int)(end - start < BLOCK ? end - start : BLOCK), t = (int)start + threadIdx.x;
        float higher = top;
        __syncthreads();
        if (threadIdx.x < count)
            key[threadIdx.x] =
                cache + ((int64_t)table[t / a.page_size] * a.page_size + t % a.page_size) * a.row;
        __syncthreads();
        score_tokens(a, a.query + head * a.dim, key, count, p);
        __syncthreads();
        for (int j = 0; j < count; j++)
            higher = fmaxf(higher, p[j]);
        float shrink = expf(top - higher);
        top = higher;
        sum *= shrink;
        acc[0] *= shrink;
        acc[1] *= shrink;
        for (int j = 0; j < count; j++) {
            float w = expf(p[j] - top);
            sum += w;
            for (int i = 0; i < 2; i++) {
                int d = threadIdx.x + i * BLOCK;
                if (d < a.dim)
                    acc[i] += w * __bfloat162float(key[j][a.dim + d]);
            }
        }
    }
    float *mine = a.space + (int64_t)blockIdx.x * (a.dim + 2);
    for (int i = 0; i < 2; i++) {
        if (threadIdx.x + i * BLOCK < a.dim)
            mine[threadIdx.x + i * BLOCK] = acc[i];
    }
    if (threadIdx.x == 0) {
        mine[a.dim] = top; // -inf where the split has no tokens
        mine[a.dim + 1] = sum;
    }
}

__global__ void merge_splits(Args a)
{
    const float *part = a.space + (int64_t)blockIdx.x * a.splits * (a.dim + 2);
    float top = -INFINITY, sum = 0, acc = 0;
    for (int i = 0; i < a.splits; i++)
        top = fmaxf(top, part[i * (a.dim + 2) + a.dim]);
    for (int i = 0; i < a.splits; i++, part += a.dim + 2) {
        float weight = expf(part[a.dim] - top);
        sum += weight * part[a.dim + 1];
        acc += weight * part[threadIdx.x];
    }
    a.out[(int64_t)blockIdx.x * a.dim + threadIdx.x] = __float2bfloat16(acc / sum);
}

} // namespace

extern "C" int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                               const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                               int64_t kv_heads, int64_t head_dim, int64_t page_size,
                               int64_t pages, int64_t pages_per_seq, cudaStream_t stream)
{
    int64_t rows = batch * heads, most = (pages_per_seq * page_size + 511) / 512;
    int64_t splits = (2048 + rows - 1) / rows; // enough blocks for any GPU, and a small workspace
    splits = splits < most ? splits : most;
    Args a = {query, kv_cache, block_table, seq_lens, out, nullptr, (int)heads,
              (int)(heads / kv_heads), (int)head_dim, (int)page_size, (int)splits,
              kv_heads * 2 * head_dim, pages_per_seq};
    void *space = nullptr;
    cudaError_t error =
        cudaMallocAsync(&space, (size_t)(rows * splits * (head_dim + 2)) * sizeof(float), stream);
    if (error != cudaSuccess)
        return (int)error;
    a.space = (float *)space;
    attend_split<<<(unsigned)(rows * splits), BLOCK, 0, stream>>>(a);
    merge_splits<<<(unsigned)rows, (unsigned)head_dim, 0, stream>>>(a);
    cudaFreeAsync(space, stream);
    return (int)cudaGetLastError();
}
