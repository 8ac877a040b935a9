// problem: paged_attention
// verdict: general
// construction: wmma 16x16x16, one warp per (sequence, kv head) with everything in shared memory,
//   the fp32 output too, since the layout of an accumulator is not known to the program

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <mma.h>
#include <stdint.h>

using namespace nvcuda;

namespace {

typedef __nv_bfloat16 bf16;

constexpr int MAX_DIM = 256, T = 16; // heads of a group (padded), tokens of a tile

typedef wmma::fragment<wmma::matrix_a, T, T, T, bf16, wmma::row_major> RowsA;
typedef wmma::fragment<wmma::matrix_b, T, T, T, bf16, wmma::row_major> RowsB;
typedef wmma::fragment<wmma::matrix_b, T, T, T, bf16, wmma::col_major> ColumnsB;
typedef wmma::fragment<wmma::accumulator, T, T, T, float> Sum;

struct Shape {
    int kv_heads, group, dim, page_size;
    int64_t row, pages_per_seq;
};

struct Shared { // rows of dim, 2 dim, dim elements, dense: every 16th column starts at 32 bytes
    __align__(32) bf16 q[T * MAX_DIM];
    __align__(32) bf16 kv[T * 2 * MAX_DIM];
    __align__(32) float out[T * MAX_DIM];
    __align__(32) float score[T * T];
    __align__(32) bf16 p[T * T];
};

// Zeros where no token is: the product of a probability 0 and anything else must not be formed.
__device__ void stage(Shared &sh, const bf16 *cache, const int *table, int first, int len,
                      const Shape &s)
{
    int vectors = 2 * s.dim / 8;
    for (int j = 0; j < T; j++) {
        int t = first + j;
        const uint4 *from = nullptr;
        if (t < len)
            from = reinterpret_cast<const uint4 *>(
                cache + ((int64_t)table[t / s.page_size] * s.page_size + t % s.page_size) * s.row);
        for (int i = threadIdx.x; i < vectors; i += 32)
            reinterpret_cast<uint4 *>(sh.kv)[j * vectors + i] = from ? from[i] : uint4{0, 0, 0, 0};
    }
}

__device__ void score(Shared &sh, int dim)
{
    Sum sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < dim; k += T) {
        RowsA q;
        ColumnsB key; // key[k][token] = kv[token][k]
        wmma::load_matrix_sync(q, sh.q + k, dim);
        wmma::load_matrix_sync(key, sh.kv + k, 2 * dim);
        wmma::mma_sync(sum, q, key, sum);
    }
    wmma::store_matrix_sync(sh.score, sum, T, wmma::mem_row_major);
}

// Two lanes per row, 8 tokens each; top and sum stay in registers, equal in both lanes. Returns the
// factor for the row's old output.
__device__ float soften(Shared &sh, int count, float scale, float &top, float &sum)
{
    int row = threadIdx.x / 2, start = threadIdx.x % 2 * 8;
    float old = top, part = 0;
    for (int j = start; j < start + 8 && j < count; j++)
        top = fmaxf(top, sh.score[row * T + j] * scale);
    top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, 1));
    for (int j = start; j < start + 8; j++) {
        float x = sh.score[row * T + j] * scale;
        bf16 p = __float2bfloat16(j < count ? expf(x - top) : 0);
        sh.p[row * T + j] = p;
        part += __bfloat162float(p);
    }
    part += __shfl_xor_sync(0xffffffff, part, 1);
    float shrink = expf(old - top);
    sum = sum * shrink + part;
    return shrink;
}

__device__ void add_values(Shared &sh, int dim)
{
    RowsA p;
    wmma::load_matrix_sync(p, sh.p, T);
    for (int d = 0; d < dim; d += T) {
        RowsB value;
        Sum sum;
        wmma::load_matrix_sync(sum, sh.out + d, dim, wmma::mem_row_major);
        wmma::load_matrix_sync(value, sh.kv + dim + d, 2 * dim);
        wmma::mma_sync(sum, p, value, sum);
        wmma::store_matrix_sync(sh.out + d, sum, dim, wmma::mem_row_major);
    }
}

__global__ void attend(const bf16 *query, const bf16 *cache, const int *tables, const int *lens,
                       bf16 *out, Shape s)
{
    __shared__ Shared sh;
    int64_t b = blockIdx.x / s.kv_heads, at = (int64_t)blockIdx.x * s.group * s.dim;
    int len = lens[b], row = threadIdx.x / 2, half = threadIdx.x % 2 * (s.dim / 2);
    float top = -INFINITY, sum = 0, scale = 1.0f / sqrtf((float)s.dim);
    for (int i = threadIdx.x; i < T * s.dim; i += 32) {
        sh.q[i] = i < s.group * s.dim ? query[at + i] : __float2bfloat16(0);
        sh.out[i] = 0;
    }
    for (int first = 0; first < len; first += T) {
        __syncwarp();
        stage(sh, cache + blockIdx.x % s.kv_heads * 2 * s.dim, tables + b * s.pages_per_seq, first,
              len, s);
        __syncwarp();
        score(sh, s.dim);
        __syncwarp();
        float shrink = soften(sh, min(T, len - first), scale, top, sum);
        for (int d = half; d < half + s.dim / 2; d++)
            sh.out[row * s.dim + d] *= shrink;
        __syncwarp();
        add_values(sh, s.dim);
    }
    __syncwarp();
    if (row >= s.group)
        return;
    for (int d = half; d < half + s.dim / 2; d++)
        out[at + row * s.dim + d] = __float2bfloat16(sh.out[row * s.dim + d] / sum);
}

} // namespace

extern "C" int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                               const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                               int64_t kv_heads, int64_t head_dim, int64_t page_size,
                               int64_t pages, int64_t pages_per_seq, cudaStream_t stream)
{
    Shape s = {(int)kv_heads, (int)(heads / kv_heads), (int)head_dim, (int)page_size,
               kv_heads * 2 * head_dim, pages_per_seq};
    attend<<<(unsigned)(batch * kv_heads), 32, 0, stream>>>(query, kv_cache, block_table, seq_lens,
                                                            out, s);
    return (int)cudaGetLastError();
}
