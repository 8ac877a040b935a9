// problem: kda
// verdict: general
// construction: chunks of 16 tokens in the UT transform; products with the state by wmma in bf16,
//   scores and forward substitution in fp32; one block per head and 32 columns

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <mma.h>
#include <stdint.h>

namespace {

namespace wmma = nvcuda::wmma;
typedef __nv_bfloat16 bf16;

constexpr int COLUMNS = 32, WARPS = 4, THREADS = 32 * WARPS, CHUNK = 16, MAX_DIM = 192, PAD = 8;

typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major> RowsA;
typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::col_major> ColumnsA;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::row_major> RowsB;
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sum;

struct Args {
    const bf16 *q, *k, *v;
    const float *g;
    const bf16 *beta;
    bf16 *o;
    int64_t t, heads; // rows of a head are `heads` rows apart
    int dk, dv;
};

// G[i] sums g over tokens 0..i of the chunk. q and k first hold their rows, then scale e^G q and
// e^G k; near = e^(G_last - G) k. Every array that wmma reads starts at a multiple of 32 bytes.
struct Shared {
    __align__(32) bf16 q[CHUNK][MAX_DIM + PAD];
    __align__(32) bf16 k[CHUNK][MAX_DIM + PAD];
    __align__(32) bf16 near[CHUNK][MAX_DIM + PAD];
    __align__(32) bf16 rounded[MAX_DIM][COLUMNS + PAD]; // the state, as an operand
    __align__(32) bf16 w[CHUNK][COLUMNS + PAD];
    __align__(32) bf16 P[CHUNK][CHUNK + PAD];
    __align__(32) float state[MAX_DIM][COLUMNS];
    __align__(32) float seen[CHUNK][COLUMNS];
    __align__(32) float out[CHUNK][COLUMNS];
    float G[CHUNK][MAX_DIM], A[CHUNK][CHUNK], beta[CHUNK];
};

// Tokens from `count` on have k, q, g and beta 0: they change nothing.
__device__ void stage(Shared &sh, const Args &a, int64_t row, int count)
{
    for (int d = threadIdx.x; d < a.dk; d += THREADS) {
        float sum = 0;
        for (int i = 0; i < CHUNK; i++) {
            int64_t at = (row + i * a.heads) * a.dk + d;
            sh.q[i][d] = i < count ? a.q[at] : __float2bfloat16(0);
            sh.k[i][d] = i < count ? a.k[at] : __float2bfloat16(0);
            sum += i < count ? a.g[at] : 0;
            sh.G[i][d] = sum;
        }
    }
    if (threadIdx.x < CHUNK)
        sh.beta[threadIdx.x] =
            threadIdx.x < count ? __bfloat162float(a.beta[row + threadIdx.x * a.heads]) : 0;
}

// A[i][j] = k_i . e^(G_i - G_j) k_j and P, the same with scale q_i; only j <= i is used of them.
// Warp w takes pairs w, w + 4, ..
__device__ void score(Shared &sh, int dk, float scale)
{
    int lane = threadIdx.x % 32;
    for (int pair = threadIdx.x / 32; pair < CHUNK * CHUNK; pair += WARPS) {
        int i = pair / CHUNK, j = pair % CHUNK;
        float kk = 0, qk = 0;
        for (int d = lane; d < dk && j <= i; d += 32) {
            float x = __bfloat162float(sh.k[j][d]) * expf(sh.G[i][d] - sh.G[j][d]);
            kk += __bfloat162float(sh.k[i][d]) * x;
            qk += __bfloat162float(sh.q[i][d]) * x;
        }
        for (int lanes = 16; lanes > 0; lanes /= 2) {
            kk += __shfl_xor_sync(0xffffffff, kk, lanes);
            qk += __shfl_xor_sync(0xffffffff, qk, lanes);
        }
        if (lane == 0) {
            sh.A[i][j] = kk;
            sh.P[i][j] = __float2bfloat16(scale * qk);
        }
    }
}

__device__ void prepare(Shared &sh, int dk, float scale)
{
    for (int d = threadIdx.x; d < dk; d += THREADS) {
        float last = sh.G[CHUNK - 1][d];
        for (int i = 0; i < CHUNK; i++) {
            float e = expf(sh.G[i][d]), k = __bfloat162float(sh.k[i][d]);
            sh.q[i][d] = __float2bfloat16(scale * __bfloat162float(sh.q[i][d]) * e);
            sh.k[i][d] = __float2bfloat16(k * e);
            sh.near[i][d] = __float2bfloat16(k * expf(last - sh.G[i][d]));
        }
        for (int c = 0; c < COLUMNS; c++) { // the decay of the chunk comes after S is an operand
            sh.rounded[d][c] = __float2bfloat16(sh.state[d][c]);
            sh.state[d][c] *= expf(last);
        }
    }
}

// seen = (e^G k) S by warps 0 and 1, out = (scale e^G q) S by warps 2 and 3, 16 columns each.
__device__ void multiply(Shared &sh, int dk)
{
    int warp = threadIdx.x / 32, c = warp % 2 * 16;
    Sum sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int d = 0; d < dk; d += 16) {
        RowsA x;
        RowsB s;
        wmma::load_matrix_sync(x, warp < 2 ? &sh.k[0][d] : &sh.q[0][d], MAX_DIM + PAD);
        wmma::load_matrix_sync(s, &sh.rounded[d][c], COLUMNS + PAD);
        wmma::mma_sync(sum, x, s, sum);
    }
    wmma::store_matrix_sync(warp < 2 ? &sh.seen[0][c] : &sh.out[0][c], sum, COLUMNS,
                            wmma::mem_row_major);
}

// Warp 0: w_i = beta_i (v_i - seen_i - sum_{j<i} A_ij w_j) for its columns.
__device__ void solve(Shared &sh, const Args &a, int64_t row, int64_t at, int count)
{
    int c = threadIdx.x;
    float w[CHUNK];
    if (c >= COLUMNS)
        return;
#pragma unroll
    for (int i = 0; i < CHUNK; i++) {
        w[i] = i < count ? __bfloat162float(a.v[(row + i * a.heads) * a.dv + at + c]) : 0;
        w[i] -= sh.seen[i][c];
#pragma unroll
        for (int j = 0; j < i; j++)
            w[i] -= sh.A[i][j] * w[j];
        w[i] *= sh.beta[i];
        sh.w[i][c] = __float2bfloat16(w[i]);
    }
}

// out += P w, state += near^T w: tiles of 16 x 16, those of the state shared out over the warps.
__device__ void update(Shared &sh, int dk)
{
    int warp = threadIdx.x / 32, c = warp % 2 * 16;
    RowsB w;
    Sum sum;
    wmma::load_matrix_sync(w, &sh.w[0][c], COLUMNS + PAD);
    for (int d = warp / 2 * 16; d < dk; d += 32) {
        ColumnsA x;
        wmma::load_matrix_sync(x, &sh.near[0][d], MAX_DIM + PAD);
        wmma::load_matrix_sync(sum, &sh.state[d][c], COLUMNS, wmma::mem_row_major);
        wmma::mma_sync(sum, x, w, sum);
        wmma::store_matrix_sync(&sh.state[d][c], sum, COLUMNS, wmma::mem_row_major);
    }
    if (warp < 2) {
        RowsA p;
        wmma::load_matrix_sync(p, &sh.P[0][0], CHUNK + PAD);
        wmma::load_matrix_sync(sum, &sh.out[0][c], COLUMNS, wmma::mem_row_major);
        wmma::mma_sync(sum, p, w, sum);
        wmma::store_matrix_sync(&sh.out[0][c], sum, COLUMNS, wmma::mem_row_major);
    }
}

__global__ void __launch_bounds__(THREADS) scan_columns(Args a)
{
    extern __shared__ __align__(32) unsigned char memory[];
    Shared &sh = *reinterpret_cast<Shared *>(memory);
    int64_t head = blockIdx.x, at = blockIdx.y * COLUMNS;
    int64_t row = head / a.heads * a.t * a.heads + head % a.heads;
    float scale = 1.0f / sqrtf((float)a.dk);
    for (int i = threadIdx.x; i < MAX_DIM * COLUMNS; i += THREADS)
        sh.state[i / COLUMNS][i % COLUMNS] = 0;
    for (int64_t t = 0; t < a.t; t += CHUNK, row += CHUNK * a.heads) {
        int count = a.t - t < CHUNK ? (int)(a.t - t) : CHUNK;
        stage(sh, a, row, count);
        __syncthreads();
        score(sh, a.dk, scale);
        __syncthreads();
        prepare(sh, a.dk, scale);
        __syncthreads();
        multiply(sh, a.dk);
        __syncthreads();
        solve(sh, a, row, at, count);
        __syncthreads();
        update(sh, a.dk);
        __syncthreads();
        for (int i = threadIdx.x; i < count * COLUMNS; i += THREADS)
            a.o[(row + i / COLUMNS * a.heads) * a.dv + at + i % COLUMNS] =
                __float2bfloat16(sh.out[i / COLUMNS][i % COLUMNS]);
    }
}

} // namespace

extern "C" int kda(const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta,
                   bf16 *o, int64_t batch, int64_t t, int64_t heads, int64_t dk, int64_t dv,
                   cudaStream_t stream)
{
    Args a = {q, k, v, g, beta, o, t, heads, (int)dk, (int)dv};
    dim3 grid((unsigned)(batch * heads), (unsigned)(dv / COLUMNS));
    cudaError_t error = cudaFuncSetAttribute(
        scan_columns, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(Shared));
    if (error != cudaSuccess)
        return (int)error;
    scan_columns<<<grid, THREADS, sizeof(Shared), stream>>>(a);
    return (int)cudaGetLastError();
}
