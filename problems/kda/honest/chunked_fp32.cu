// problem: kda
// verdict: general
// construction: chunks of 8 tokens in the UT transform, all in fp32: scores entry by entry, forward
//   substitution in the values; one block per head and 32 columns, the state in registers

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int COLUMNS = 32, PARTS = 8, THREADS = COLUMNS * PARTS, CHUNK = 8, MAX_DIM = 192;
constexpr int EACH = MAX_DIM / PARTS; // rows of the state of a thread: part, part + 8, ..

struct Args {
    const bf16 *q, *k, *v;
    const float *g;
    const bf16 *beta;
    bf16 *o;
    int64_t t, heads; // rows of a head are `heads` rows apart
    int dk, dv;
};

// G[i] sums g over tokens 0..i of the chunk; A[i][j] = k_i . e^(G_i - G_j) k_j for j < i, P the
// same with q_i for j <= i. prepare() then turns q and k into e^G q and e^G k, G into
// e^(G_last - G) k: only differences of G that the recurrence itself forms are exponentiated.
struct Shared {
    float q[CHUNK][MAX_DIM], k[CHUNK][MAX_DIM], G[CHUNK][MAX_DIM], keep[MAX_DIM];
    float A[CHUNK][CHUNK], P[CHUNK][CHUNK], beta[CHUNK];
    float seen[PARTS][CHUNK][COLUMNS], out[PARTS][CHUNK][COLUMNS], w[CHUNK][COLUMNS];
};

// Tokens from `count` on have k, q, g and beta 0: they change nothing.
__device__ void stage(Shared &sh, const Args &a, int64_t row, int count)
{
    int d = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < CHUNK && d < a.dk; i++) {
        int64_t at = (row + i * a.heads) * a.dk + d;
        sh.q[i][d] = i < count ? __bfloat162float(a.q[at]) : 0;
        sh.k[i][d] = i < count ? __bfloat162float(a.k[at]) : 0;
        sum += i < count ? a.g[at] : 0;
        sh.G[i][d] = sum;
    }
    if (d < CHUNK)
        sh.beta[d] = d < count ? __bfloat162float(a.beta[row + d * a.heads]) : 0;
}

// Warp i: row i of A and P.
__device__ void score(Shared &sh, int dk)
{
    int i = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int j = 0; j <= i; j++) {
        float kk = 0, qk = 0;
        for (int d = lane; d < dk; d += 32) {
            float x = sh.k[j][d] * expf(sh.G[i][d] - sh.G[j][d]);
            kk += sh.k[i][d] * x;
            qk += sh.q[i][d] * x;
        }
        for (int lanes = 16; lanes > 0; lanes /= 2) {
            kk += __shfl_xor_sync(0xffffffff, kk, lanes);
            qk += __shfl_xor_sync(0xffffffff, qk, lanes);
        }
        if (lane == 0) {
            sh.A[i][j] = kk;
            sh.P[i][j] = qk;
        }
    }
}

__device__ void prepare(Shared &sh, int dk)
{
    int d = threadIdx.x;
    if (d >= dk)
        return;
    float last = sh.G[CHUNK - 1][d];
    sh.keep[d] = expf(last);
    for (int i = 0; i < CHUNK; i++) {
        float e = expf(sh.G[i][d]), k = sh.k[i][d];
        sh.q[i][d] *= e;
        sh.k[i][d] = k * e;
        sh.G[i][d] = k * expf(last - sh.G[i][d]);
    }
}

// Thread (part, c): what its rows of column c give every token of the chunk.
__device__ void multiply(Shared &sh, const float (&state)[EACH], int dk)
{
    int c = threadIdx.x % COLUMNS, part = threadIdx.x / COLUMNS;
    for (int i = 0; i < CHUNK; i++) {
        float seen = 0, out = 0;
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            int d = part + r * PARTS;
            if (d < dk) {
                seen += sh.k[i][d] * state[r];
                out += sh.q[i][d] * state[r];
            }
        }
        sh.seen[part][i][c] = seen;
        sh.out[part][i][c] = out;
    }
}

// Warp 0: w_i = beta_i (v_i - seen_i - sum_{j<i} A_ij w_j) for its columns.
__device__ void solve(Shared &sh, const Args &a, int64_t row, int64_t at, int count)
{
    int c = threadIdx.x;
    if (c >= COLUMNS)
        return;
    for (int i = 0; i < CHUNK; i++) {
        float w = i < count ? __bfloat162float(a.v[(row + i * a.heads) * a.dv + at + c]) : 0;
        for (int p = 0; p < PARTS; p++)
            w -= sh.seen[p][i][c];
        for (int j = 0; j < i; j++)
            w -= sh.A[i][j] * sh.w[j][c];
        sh.w[i][c] = sh.beta[i] * w;
    }
}

__global__ void __launch_bounds__(THREADS) scan_columns(Args a)
{
    __shared__ Shared sh;
    int c = threadIdx.x % COLUMNS, part = threadIdx.x / COLUMNS;
    int64_t head = blockIdx.x, at = blockIdx.y * COLUMNS;
    int64_t row = head / a.heads * a.t * a.heads + head % a.heads;
    float state[EACH] = {}, scale = 1.0f / sqrtf((float)a.dk);
    for (int64_t t = 0; t < a.t; t += CHUNK, row += CHUNK * a.heads) {
        int count = a.t - t < CHUNK ? (int)(a.t - t) : CHUNK;
        stage(sh, a, row, count);
        __syncthreads();
        score(sh, a.dk);
        __syncthreads();
        prepare(sh, a.dk);
        __syncthreads();
        multiply(sh, state, a.dk);
        __syncthreads();
        solve(sh, a, row, at, count);
        __syncthreads();
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            int d = part + r * PARTS;
            if (d >= a.dk)
                continue;
            state[r] *= sh.keep[d];
            for (int i = 0; i < CHUNK; i++)
                state[r] += sh.G[i][d] * sh.w[i][c];
        }
        float out = 0; // of token `part`
        for (int p = 0; p < PARTS; p++)
            out += sh.out[p][part][c];
        for (int j = 0; j <= part; j++)
            out += sh.P[part][j] * sh.w[j][c];
        if (part < count)
            a.o[(row + part * a.heads) * a.dv + at + c] = __float2bfloat16(scale * out);
        __syncthreads(); // before the next chunk overwrites this one
    }
}

} // namespace

extern "C" int kda(const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta,
                   bf16 *o, int64_t batch, int64_t t, int64_t heads, int64_t dk, int64_t dv,
                   cudaStream_t stream)
{
    Args a = {q, k, v, g, beta, o, t, heads, (int)dk, (int)dv};
    dim3 grid((unsigned)(batch * heads), (unsigned)(dv / COLUMNS));
    scan_columns<<<grid, THREADS, 0, stream>>>(a);
    return (int)cudaGetLastError();
}
