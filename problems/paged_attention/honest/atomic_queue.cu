// problem: paged_attention
// verdict: general
// construction: dynamic work, every warp draws the next (sequence, head) from an atomic counter;
//   a lane per token for the scores, a lane per pair of columns for the values

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int WARPS = 8, MAX_DIM = 256, PAIRS = MAX_DIM / 64;
constexpr unsigned ALL = 0xffffffff;

struct Args {
    const bf16 *query, *cache;
    const int *table, *lens;
    bf16 *out;
    unsigned *next; // the counter, zero at the start
    int64_t rows, heads, group, row, pages_per_seq;
    int dim, page_size;
};

__device__ float dot(const float *q, const bf16 *key, int dim)
{
    float sum = 0;
    for (int d = 0; d < dim; d += 8) {
        uint4 x = *reinterpret_cast<const uint4 *>(key + d);
        const __nv_bfloat162 *pair = reinterpret_cast<const __nv_bfloat162 *>(&x);
        for (int i = 0; i < 4; i++) {
            float2 f = __bfloat1622float2(pair[i]);
            sum += q[d + 2 * i] * f.x + q[d + 2 * i + 1] * f.y;
        }
    }
    return sum;
}

__device__ float warp_max(float x)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        x = fmaxf(x, __shfl_xor_sync(ALL, x, lanes));
    return x;
}

__device__ float warp_sum(float x)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        x += __shfl_xor_sync(ALL, x, lanes);
    return x;
}

// One head by one warp, 32 tokens at a time; q is in fp32, already scaled.
__device__ void attend_row(const Args &a, int64_t row, const float *q)
{
    int lane = threadIdx.x % 32;
    int64_t b = row / a.heads, kv_head = row % a.heads / a.group;
    const int *table = a.table + b * a.pages_per_seq;
    int len = a.lens[b];
    float top = -INFINITY, sum = 0;
    float2 acc[PAIRS] = {};
    for (int first = 0; first < len; first += 32) {
        int t = first + lane, count = min(32, len - first);
        const bf16 *key = nullptr;
        float x = -INFINITY;
        if (t < len) {
            int64_t slot = (int64_t)table[t / a.page_size] * a.page_size + t % a.page_size;
            key = a.cache + slot * a.row + kv_head * 2 * a.dim;
            x = dot(q, key, a.dim);
        }
        float higher = fmaxf(top, warp_max(x)), shrink = expf(top - higher);
        float p = expf(x - higher);
        top = higher;
        sum = sum * shrink + p; // of this lane's tokens
        for (int i = 0; i < PAIRS; i++)
            acc[i] = make_float2(acc[i].x * shrink, acc[i].y * shrink);
        for (int j = 0; j < count; j++) {
            float w = __shfl_sync(ALL, p, j);
            const bf16 *v = (const bf16 *)__shfl_sync(ALL, (unsigned long long)key, j) + a.dim;
            for (int i = 0; i < PAIRS && 64 * i + 2 * lane < a.dim; i++) {
                float2 y = __bfloat1622float2(
                    *reinterpret_cast<const __nv_bfloat162 *>(v + 64 * i + 2 * lane));
                acc[i].x += w * y.x;
                acc[i].y += w * y.y;
            }
        }
    }
    sum = warp_sum(sum);
    for (int i = 0; i < PAIRS && 64 * i + 2 * lane < a.dim; i++)
        *reinterpret_cast<__nv_bfloat162 *>(a.out + row * a.dim + 64 * i + 2 * lane) =
            __floats2bfloat162_rn(acc[i].x / sum, acc[i].y / sum);
}

__global__ void attend(Args a)
{
    __shared__ float queries[WARPS][MAX_DIM];
    float *q = queries[threadIdx.x / 32];
    int lane = threadIdx.x % 32;
    for (;;) {
        unsigned row = 0;
        if (lane == 0)
            row = atomicAdd(a.next, 1u);
        row = __shfl_sync(ALL, row, 0);
        if (row >= a.rows)
            return;
        for (int d = lane; d < a.dim; d += 32)
            q[d] = __bfloat162float(a.query[row * (int64_t)a.dim + d]) / sqrtf((float)a.dim);
        __syncwarp();
        attend_row(a, row, q);
        __syncwarp(); // all lanes are done with q
    }
}

} // namespace

extern "C" int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                               const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                               int64_t kv_heads, int64_t head_dim, int64_t page_size,
                               int64_t pages, int64_t pages_per_seq, cudaStream_t stream)
{
    int device = 0, units = 1;
    void *counter = nullptr;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    cudaError_t error = cudaMallocAsync(&counter, sizeof(unsigned), stream);
    if (error != cudaSuccess)
        return (int)error;
    cudaMemsetAsync(counter, 0, sizeof(unsigned), stream);
    Args a = {query, kv_cache, block_table, seq_lens, out, (unsigned *)counter, batch * heads,
              heads, heads / kv_heads, kv_heads * 2 * head_dim, pages_per_seq, (int)head_dim,
              (int)page_size};
    int64_t blocks = (a.rows + WARPS - 1) / WARPS, most = 4 * (int64_t)units;
    attend<<<(unsigned)(blocks < most ? blocks : most), 32 * WARPS, 0, stream>>>(a);
    cudaFreeAsync(counter, stream);
    return (int)cudaGetLastError();
}
