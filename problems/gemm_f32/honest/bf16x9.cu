// problem: gemm_f32
// verdict: general
// construction: each operand split once into three bf16 matrices (exact), all nine products by
// wmma; fp32 FMA for short k and where anything does not split
#include <cuda_bf16.h>
#include <mma.h>
#include <stdint.h>

using namespace nvcuda;

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 256;

struct problem {
    const float *a, *b; /* [m, k]; [k, n], or [n, k] if trans_b */
    float *c;           /* [m, n] */
    int64_t m, n, k, trans_b;
};

/* tile[p][i] = a[row0 + i][k0 + p], zero outside the matrix. */
__device__ void load_a(float (*tile)[TILE + 1], const problem &q, int64_t row0, int64_t k0)
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int i = e / STEP, p = e % STEP;
        const bool inside = row0 + i < q.m && k0 + p < q.k;
        tile[p][i] = inside ? q.a[(row0 + i) * q.k + k0 + p] : 0.0f;
    }
}

/* tile[p][j] = b[k0 + p][col0 + j], zero outside; reads run along the rows of memory. */
__device__ void load_b(float (*tile)[TILE + 1], const problem &q, int64_t col0, int64_t k0)
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int j = q.trans_b ? e / STEP : e % TILE, p = q.trans_b ? e % STEP : e / TILE;
        const int64_t row = k0 + p, col = col0 + j;
        const bool inside = row < q.k && col < q.n;
        tile[p][j] = inside ? q.b[q.trans_b ? col * q.k + row : row * q.n + col] : 0.0f;
    }
}

/* One tile of c by fp32 FMA, where there is trouble; `trouble` is in device memory. */
__global__ void __launch_bounds__(THREADS) gemm_plain(problem q, const int *trouble)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE + 1];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    float sum[4][4] = {};

    if (!*trouble)
        return;
    for (int64_t k0 = 0; k0 < q.k; k0 += STEP) {
        load_a(a, q, row0, k0);
        load_b(b, q, col0, k0);
        __syncthreads();
        for (int p = 0; p < STEP; p++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += a[p][ty + 16 * i] * b[p][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const int64_t row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
            if (row < q.m && col < q.n)
                q.c[row * q.n + col] = sum[i][j];
        }
}

/* x = part[0] + part[1] + part[2], 8 bits each: rows [rows, depth], zero from (height, k) on. */
struct parts {
    __nv_bfloat16 *part[3];
    int64_t rows, depth; /* multiples of TILE and STEP */
};

/* `source` element (r, p) at r * along_r + p * along_p. NaN, infinity and values whose parts or
 * products leave the normal range are trouble. */
__global__ void split(const float *source, int64_t along_r, int64_t along_p, int64_t height,
                      int64_t k, parts to, int *trouble)
{
    const int64_t r = blockIdx.y, p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

    if (p >= to.depth)
        return;
    float x = r < height && p < k ? source[r * along_r + p * along_p] : 0.0f;
    if (x != 0 && !(fabsf(x) > 0x1p-60f && fabsf(x) < 0x1p60f))
        *trouble = 1;
    for (int s = 0; s < 3; s++) {
        const __nv_bfloat16 upper = __float2bfloat16(x);
        to.part[s][r * to.depth + p] = upper;
        x -= __bfloat162float(upper);
    }
}

typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> accumulator;
typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fragment_a;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> fragment_b;

/* sum[0] += the leading products, sum[1] the other eight, smallest first: 16 x 16 from (row, col).
 */
__device__ void multiply(accumulator (&sum)[2], const parts &a, const parts &b, int64_t row,
                         int64_t col)
{
    fragment_a u[3];
    fragment_b v[3];

    for (int64_t p = 0; p < a.depth; p += 16) {
#pragma unroll
        for (int s = 0; s < 3; s++) {
            wmma::load_matrix_sync(u[s], a.part[s] + row * a.depth + p, (unsigned)a.depth);
            wmma::load_matrix_sync(v[s], b.part[s] + col * b.depth + p, (unsigned)b.depth);
        }
#pragma unroll
        for (int s = 4; s > 0; s--)
#pragma unroll
            for (int i = s > 2 ? s - 2 : 0; i < 3 && i <= s; i++)
                wmma::mma_sync(sum[1], u[i], v[s - i], sum[1]);
        wmma::mma_sync(sum[0], u[0], v[0], sum[0]);
    }
}

/* A warp, one 16 x 16 tile of c; fragments come straight from the split matrices. */
__global__ void __launch_bounds__(THREADS) gemm(problem q, parts a, parts b, const int *trouble)
{
    __shared__ __align__(32) float out[THREADS / 32][16][16];
    const int warp = threadIdx.x / 32;
    const int64_t row0 = (int64_t)blockIdx.y * 32 + warp / 4 * 16;
    const int64_t col0 = (int64_t)blockIdx.x * TILE + warp % 4 * 16;
    accumulator sum[2];

    if (*trouble)
        return;
    wmma::fill_fragment(sum[0], 0.0f);
    wmma::fill_fragment(sum[1], 0.0f);
    multiply(sum, a, b, row0, col0);
    for (int e = 0; e < sum[0].num_elements; e++)
        sum[0].x[e] += sum[1].x[e];
    wmma::store_matrix_sync(&out[warp][0][0], sum[0], 16, wmma::mem_row_major);
    __syncwarp();
    for (int e = threadIdx.x % 32; e < 256; e += 32) {
        const int64_t row = row0 + e / 16, col = col0 + e % 16;
        if (row < q.m && col < q.n)
            q.c[row * q.n + col] = out[warp][e / 16][e % 16];
    }
}

/* Both operands split, then one of the two products, as `trouble` (device memory) says. */
static cudaError_t run(const problem &q, __nv_bfloat16 *space, int *trouble, cudaStream_t stream)
{
    const int64_t depth = (q.k + STEP - 1) / STEP * STEP;
    parts a = {{}, (q.m + TILE - 1) / TILE * TILE, depth},
          b = {{}, (q.n + TILE - 1) / TILE * TILE, depth};
    const unsigned wide = (unsigned)((depth + 255) / 256);
    const dim3 tiles((unsigned)(b.rows / TILE), (unsigned)(a.rows / TILE));
    const dim3 half_tiles((unsigned)(b.rows / TILE), (unsigned)(a.rows / 32));

    for (int s = 0; s < 3; s++) {
        a.part[s] = space + s * a.rows * depth;
        b.part[s] = space + (3 * a.rows + s * b.rows) * depth;
    }
    split<<<dim3(wide, (unsigned)a.rows), 256, 0, stream>>>(q.a, q.k, 1, q.m, q.k, a, trouble);
    split<<<dim3(wide, (unsigned)b.rows), 256, 0, stream>>>(
        q.b, q.trans_b ? q.k : 1, q.trans_b ? 1 : q.n, q.n, q.k, b, trouble);
    gemm<<<half_tiles, THREADS, 0, stream>>>(q, a, b, trouble);
    gemm_plain<<<tiles, THREADS, 0, stream>>>(q, trouble);
    return cudaGetLastError();
}

} // namespace

extern "C" int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
                        int64_t trans_b, cudaStream_t stream)
{
    const problem q = {a, b, c, m, n, k, trans_b};
    const int64_t rows = (m + TILE - 1) / TILE * TILE + (n + TILE - 1) / TILE * TILE;
    const int64_t count = k < 32 ? 0 : 3 * rows * ((k + STEP - 1) / STEP * STEP);
    const dim3 grid((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE));
    char *space; /* a flag, then the parts */
    cudaError_t error = cudaMallocAsync((void **)&space, 256 + (size_t)count * 2, stream);

    if (error != cudaSuccess)
        return (int)error;
    error = cudaMemsetAsync(space, k < 32, 256, stream); /* short k is trouble from the start: */
    if (error == cudaSuccess && k < 32) { /* the matrix unit cuts a sum where fp32 rounds it */
        gemm_plain<<<grid, THREADS, 0, stream>>>(q, (const int *)space);
        error = cudaGetLastError();
    } else if (error == cudaSuccess) {
        error = run(q, (__nv_bfloat16 *)(space + 256), (int *)space, stream);
    }
    cudaFreeAsync(space, stream);
    return (int)error;
}
