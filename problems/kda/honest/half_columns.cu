// problem: kda
// verdict: general
// construction: half a column of the state in the registers of each thread; a block is one warp,
//   which fetches the next token while it works on this one

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int COLUMNS = 16;

struct Args {
    const bf16 *q, *k, *v;
    const float *g;
    const bf16 *beta;
    bf16 *o;
    int64_t t, heads, dv; // rows of a head are `heads` rows apart
};

// A lane's share of a token, as it comes from memory: channels lane, lane + 32, ..
template <int DK> struct Fetched {
    bf16 q[DK / 32], k[DK / 32], v, beta;
    float g[DK / 32];
};

template <int DK> __device__ Fetched<DK> fetch(const Args &a, int64_t row, int64_t column)
{
    Fetched<DK> f;
#pragma unroll
    for (int r = 0; r < DK / 32; r++) {
        int64_t at = row * DK + threadIdx.x + 32 * r;
        f.q[r] = a.q[at];
        f.k[r] = a.k[at];
        f.g[r] = a.g[at];
    }
    f.v = a.v[row * a.dv + column];
    f.beta = a.beta[row];
    return f;
}

template <int DK> __global__ void __launch_bounds__(32) scan_columns(Args a)
{
    __shared__ float qs[DK], ks[DK], decay[DK];
    int half = threadIdx.x / COLUMNS; // rows half, half + 2, .. of a column
    int64_t head = blockIdx.x, column = blockIdx.y * COLUMNS + threadIdx.x % COLUMNS;
    int64_t row = head / a.heads * a.t * a.heads + head % a.heads;
    float state[DK / 2] = {}, scale = 1.0f / sqrtf((float)DK);
    Fetched<DK> token = fetch<DK>(a, row, column);
    for (int64_t t = 0; t < a.t; t++, row += a.heads) {
        float seen = 0, out = 0, v = __bfloat162float(token.v), beta = __bfloat162float(token.beta);
#pragma unroll
        for (int r = 0; r < DK / 32; r++) {
            qs[threadIdx.x + 32 * r] = __bfloat162float(token.q[r]);
            ks[threadIdx.x + 32 * r] = __bfloat162float(token.k[r]);
            decay[threadIdx.x + 32 * r] = expf(token.g[r]);
        }
        __syncwarp();
        if (t + 1 < a.t)
            token = fetch<DK>(a, row + a.heads, column);
#pragma unroll
        for (int i = 0; i < DK / 2; i++) {
            state[i] *= decay[2 * i + half];
            seen += ks[2 * i + half] * state[i];
        }
        seen += __shfl_xor_sync(0xffffffff, seen, COLUMNS);
        float add = beta * (v - seen);
#pragma unroll
        for (int i = 0; i < DK / 2; i++) {
            state[i] += ks[2 * i + half] * add;
            out += qs[2 * i + half] * state[i];
        }
        out += __shfl_xor_sync(0xffffffff, out, COLUMNS);
        if (half == 0)
            a.o[row * a.dv + column] = __float2bfloat16(scale * out);
        __syncwarp(); // before the next token overwrites this one
    }
}

} // namespace

extern "C" int kda(const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta,
                   bf16 *o, int64_t batch, int64_t t, int64_t heads, int64_t dk, int64_t dv,
                   cudaStream_t stream)
{
    Args a = {q, k, v, g, beta, o, t, heads, dv};
    dim3 grid((unsigned)(batch * heads), (unsigned)(dv / COLUMNS));
    auto kernel = dk == 64    ? scan_columns<64>
                  : dk == 96  ? scan_columns<96>
                  : dk == 128 ? scan_columns<128>
                              : scan_columns<192>;
    kernel<<<grid, 2 * COLUMNS, 0, stream>>>(a);
    return (int)cudaGetLastError();
}
