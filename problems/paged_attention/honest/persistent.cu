// problem: paged_attention
// verdict: general
// construction: persistent, a few blocks per multiprocessor walk over the (sequence, head) pairs;
//   teams of 16 lanes take a token each, merged in shared memory

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int THREADS = 256, LANES = 16, TEAMS = THREADS / LANES;
constexpr int MAX_DIM = 256, PAIRS = MAX_DIM / 2 / LANES;

struct Args {
    const bf16 *query, *cache;
    const int *table, *lens;
    bf16 *out;
    int64_t rows, heads, group, row, pages_per_seq;
    int dim, page_size;
};

struct Partial {
    float top, sum, acc[MAX_DIM];
};

// Lane c of a team holds elements 32 i + 2 c + {0, 1}.
__device__ float2 load_pair(const bf16 *row, int d, int dim)
{
    if (d >= dim)
        return make_float2(0, 0);
    return __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162 *>(row + d));
}

// Tokens team, team + 16, ... of a head; whole warps stay together, a team past the end idles.
__device__ void fold_tokens(const Args &a, const bf16 *query, const bf16 *cache, const int *table,
                            int len, Partial &part)
{
    int team = threadIdx.x / LANES, c = threadIdx.x % LANES;
    float top = -INFINITY, sum = 0, scale = 1.0f / sqrtf((float)a.dim);
    float2 q[PAIRS], acc[PAIRS] = {};
    for (int i = 0; i < PAIRS; i++)
        q[i] = load_pair(query, 32 * i + 2 * c, a.dim);
    for (int first = 0; first < len; first += TEAMS) {
        int t = first + team;
        const bf16 *key = nullptr;
        float dot = 0;
        if (t < len) {
            int64_t slot = (int64_t)table[t / a.page_size] * a.page_size + t % a.page_size;
            key = cache + slot * a.row;
            for (int i = 0; i < PAIRS; i++) {
                float2 k = load_pair(key, 32 * i + 2 * c, a.dim);
                dot += q[i].x * k.x + q[i].y * k.y;
            }
        }
        for (int lanes = LANES / 2; lanes > 0; lanes /= 2)
            dot += __shfl_xor_sync(0xffffffff, dot, lanes);
        if (t >= len)
            continue;
        float higher = fmaxf(top, dot * scale);
        float shrink = __expf(top - higher), p = __expf(dot * scale - higher);
        top = higher;
        sum = sum * shrink + p;
        for (int i = 0; i < PAIRS; i++) {
            float2 v = load_pair(key + a.dim, 32 * i + 2 * c, a.dim);
            acc[i].x = acc[i].x * shrink + p * v.x;
            acc[i].y = acc[i].y * shrink + p * v.y;
        }
    }
    if (c == 0) {
        part.top = top;
        part.sum = sum;
    }
    for (int i = 0; i < PAIRS; i++) {
        part.acc[32 * i + 2 * c] = acc[i].x;
        part.acc[32 * i + 2 * c + 1] = acc[i].y;
    }
}

__global__ void attend(Args a)
{
    __shared__ Partial part[TEAMS];
    for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
        int64_t b = row / a.heads, kv_head = row % a.heads / a.group;
        fold_tokens(a, a.query + row * a.dim, a.cache + kv_head * 2 * a.dim,
                    a.table + b * a.pages_per_seq, a.lens[b], part[threadIdx.x / LANES]);
        __syncthreads();
        float top = -INFINITY, sum = 0, acc = 0;
        for (int i = 0; i < TEAMS; i++)
            top = fmaxf(top, part[i].top);
        for (int i = 0; i < TEAMS; i++) {
            float weight = __expf(part[i].top - top); // 0 for a team without tokens
            sum += weight * part[i].sum;
            acc += weight * part[i].acc[threadIdx.x];
        }
        if (threadIdx.x < a.dim)
            a.out[row * a.dim + threadIdx.x] = __float2bfloat16(acc / sum);
        __syncthreads(); // before the next row overwrites the partial results
    }
}

} // namespace

extern "C" int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                               const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                               int64_t kv_heads, int64_t head_dim, int64_t page_size,
                               int64_t pages, int64_t pages_per_seq, cudaStream_t stream)
{
    int device = 0, units = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    Args a = {query, kv_cache, block_table, seq_lens, out, batch * heads, heads, heads / kv_heads,
              kv_heads * 2 * head_dim, pages_per_seq, (int)head_dim, (int)page_size};
    int64_t blocks = a.rows < 4 * units ? a.rows : 4 * units;
    attend<<<(unsigned)blocks, THREADS, 0, stream>>>(a);
    return (int)cudaGetLastError();
}
