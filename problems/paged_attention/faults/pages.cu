// problem: paged_attention
// verdict: general
// construction: one block per (sequence, head); online softmax over tiles of up to 16 slots of a page in shared memory

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int WARPS = 8, MAX_DIM = 256, TILE = 16;

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

// One block per (sequence, head), page by page in tiles of up to 16 slots; thread d owns column d.
__global__ void attend(const bf16 *query, const bf16 *cache, const int *tables, const int *lens,
                       bf16 *out, Shape s)
{
    __shared__ bf16 kv[TILE][2 * MAX_DIM];
    __shared__ float q[MAX_DIM], p[TILE];
    int64_t b = blockIdx.x / s.heads, h = blockIdx.x % s.heads, at = (int64_t)blockIdx.x * s.dim;
    int len = lens[b], warp = threadIdx.x / 32, lane = threadIdx.x % 32, d = threadIdx.x;
    float top = -INFINITY, sum = 0, acc = 0;
    q[d] = d < s.dim ? __bfloat162float(query[at + d]) / sqrtf((float)s.dim) : 0;
    for (int first = 0; first < len;) {
        int slot = first % s.page_size, count = min(TILE, min(s.page_size - slot, len - first));
        int64_t page = tables[b * s.pages_per_seq + first / s.page_size];
        const bf16 *from = cache + h / s.group * 2 * s.dim + (page * s.page_size + slot) * s.row;
        __syncthreads();
        for (int i = d; i < count * 2 * s.dim; i += 32 * WARPS)
            kv[i / (2 * s.dim)][i % (2 * s.dim)] = from[i / (2 * s.dim) * s.row + i % (2 * s.dim)];
        __syncthreads();
        for (int j = warp; j < count; j += WARPS) {
            float dot = 0;
            for (int i = lane; i < s.dim; i += 32)
                dot += q[i] * __bfloat162float(kv[j][i]);
            p[j] = warp_sum(dot);
        }
        __syncthreads();
        float higher = top;
        for (int j = 0; j < count; j++)
            higher = fmaxf(higher, p[j]);
        sum *= expf(top - higher);
        acc *= expf(top - higher);
        top = higher;
        for (int j = 0; j < count; j++) {
            sum += expf(p[j] - top);
            acc += d < s.dim ? expf(p[j] - top) * __bfloat162float(kv[j][s.dim + d]) : 0;
        }
        first += count;
    }
    if (d < s.dim)
        out[at + d] = __float2bfloat16(acc / sum);
}

} // namespace

extern "C" int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                               const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                               int64_t kv_heads, int64_t head_dim, int64_t page_size,
                               int64_t pages, int64_t pages_per_seq, cudaStream_t stream)
{
    Shape s = {(int)heads, (int)(heads / kv_heads), (int)head_dim, (int)page_size,
               kv_heads * 2 * head_dim, pages_per_seq};
    attend<<<(unsigned)(batch * heads), 32 * WARPS, 0, stream>>>(query, kv_cache, block_table,
                                                                 seq_lens, out, s);
    return (int)cudaGetLastError();
}
