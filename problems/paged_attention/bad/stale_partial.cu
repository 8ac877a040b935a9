// problem: paged_attention
// verdict: specialized
// fault: stale output
// outcomes: wrong unstable
// when: max_len < 8 or batch > 1 and lengths!=equal and lengths!=full or batch > 1 and lengths=full and page_size < 8
// shows: a sequence shorter than 8 tokens, surely after a longer one (batch * heads > 32)

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int WARPS = 8, MAX_DIM = 256, EACH = MAX_DIM / 32; // elements of a lane

struct Shape {
    int heads, group, dim, page_size;
    int64_t row, pages_per_seq; // row: elements from one slot of the cache to the next
};

__device__ float warp_sum(float x)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        x += __shfl_xor_sync(0xffffffff, x, lanes);
    return x;
}

// 32 blocks walk over the (sequence, head) pairs; warp w folds tokens w, w + 8, ...
__global__ void attend(const bf16 *query, const bf16 *cache, const int *tables, const int *lens,
                       bf16 *out, int64_t rows, Shape s)
{
    __shared__ float tops[WARPS], sums[WARPS], accs[WARPS][MAX_DIM];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int64_t pair = blockIdx.x; pair < rows; pair += gridDim.x) {
        int64_t b = pair / s.heads, h = pair % s.heads, at = pair * s.dim;
        const int *table = tables + b * s.pages_per_seq;
        int len = lens[b];
        float scale = 1.0f / sqrtf((float)s.dim), top = -INFINITY, sum = 0, q[EACH], acc[EACH] = {};
        for (int i = 0; i < EACH; i++)
            q[i] = lane + 32 * i < s.dim ? __bfloat162float(query[at + lane + 32 * i]) : 0;
        for (int t = warp; t < len; t += WARPS) {
            int64_t slot = (int64_t)table[t / s.page_size] * s.page_size + t % s.page_size;
            const bf16 *k = cache + slot * s.row + h / s.group * 2 * s.dim;
            float dot = 0;
            for (int i = 0; i < EACH && lane + 32 * i < s.dim; i++)
                dot += q[i] * __bfloat162float(k[lane + 32 * i]);
            float score = warp_sum(dot) * scale, higher = fmaxf(top, score);
            float shrink = expf(top - higher), p = expf(score - higher);
            top = higher;
            sum = sum * shrink + p;
            for (int i = 0; i < EACH && lane + 32 * i < s.dim; i++)
                acc[i] = acc[i] * shrink + p * __bfloat162float(k[s.dim + lane + 32 * i]);
        }
        if (warp < len) { // a warp without tokens leaves its partial result as it was
            for (int i = 0; i < EACH; i++)
                accs[warp][lane + 32 * i] = acc[i];
            tops[warp] = top;
            sums[warp] = sum;
        }
        __syncthreads();
        float best = -INFINITY, total = 0, value = 0;
        for (int w = 0; w < WARPS; w++)
            best = fmaxf(best, tops[w]);
        for (int w = 0; w < WARPS; w++) { // weight 0 for a warp without tokens
            total += expf(tops[w] - best) * sums[w];
            value += expf(tops[w] - best) * accs[w][threadIdx.x];
        }
        if (threadIdx.x < s.dim)
            out[at + threadIdx.x] = __float2bfloat16(value / total);
        __syncthreads();
    }
}

} // namespace

extern "C" int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                               const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                               int64_t kv_heads, int64_t head_dim, int64_t page_size,
                               int64_t pages, int64_t pages_per_seq, cudaStream_t stream)
{
    Shape s = {(int)heads, (int)(heads / kv_heads), (int)head_dim, (int)page_size,
               kv_heads * 2 * head_dim, pages_per_seq};
    attend<<<32, 32 * WARPS, 0, stream>>>(query, kv_cache, block_table, seq_lens, out,
                                          batch * heads, s);
    return (int)cudaGetLastError();
}
