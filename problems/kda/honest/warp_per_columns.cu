// problem: kda
// verdict: general
// construction: one warp per 4 columns of the state, rows shared out over its lanes; sums by
//   shuffles, neither shared memory nor barriers

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int WARPS = 4, COLUMNS = 4, EACH = 192 / 32; // warps of a block; columns, rows of a lane

struct Args {
    const bf16 *q, *k, *v;
    const float *g;
    const bf16 *beta;
    bf16 *o;
    int64_t items, t, heads; // rows of a head are `heads` rows apart
    int dk, dv;
};

__device__ void warp_sums(float (&x)[COLUMNS])
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        for (int c = 0; c < COLUMNS; c++)
            x[c] += __shfl_xor_sync(0xffffffff, x[c], lanes);
}

__global__ void __launch_bounds__(32 * WARPS) scan_columns(Args a)
{
    int lane = threadIdx.x % 32, groups = a.dv / COLUMNS, rows = a.dk / 32;
    int64_t item = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32, head = item / groups;
    int64_t at = item % groups * COLUMNS, row = head / a.heads * a.t * a.heads + head % a.heads;
    float state[EACH][COLUMNS] = {}, scale = 1.0f / sqrtf((float)a.dk);
    if (item >= a.items) // a whole warp
        return;
    for (int64_t t = 0; t < a.t; t++, row += a.heads) {
        float k[EACH] = {}, q[EACH] = {}, add[COLUMNS] = {}, out[COLUMNS] = {};
        float beta = __bfloat162float(a.beta[row]);
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            if (r >= rows)
                continue;
            int64_t i = row * a.dk + 32 * r + lane;
            float decay = expf(a.g[i]);
            k[r] = __bfloat162float(a.k[i]);
            q[r] = __bfloat162float(a.q[i]);
            for (int c = 0; c < COLUMNS; c++) {
                state[r][c] *= decay;
                add[c] += k[r] * state[r][c];
            }
        }
        warp_sums(add);
        for (int c = 0; c < COLUMNS; c++)
            add[c] = beta * (__bfloat162float(a.v[row * a.dv + at + c]) - add[c]);
#pragma unroll
        for (int r = 0; r < EACH; r++)
            for (int c = 0; c < COLUMNS; c++) {
                state[r][c] += k[r] * add[c];
                out[c] += q[r] * state[r][c];
            }
        warp_sums(out);
        for (int c = 0; c < COLUMNS; c++)
            if (lane == c)
                a.o[row * a.dv + at + c] = __float2bfloat16(scale * out[c]);
    }
}

} // namespace

extern "C" int kda(const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta,
                   bf16 *o, int64_t batch, int64_t t, int64_t heads, int64_t dk, int64_t dv,
                   cudaStream_t stream)
{
    Args a = {q, k, v, g, beta, o, batch * heads * dv / COLUMNS, t, heads, (int)dk, (int)dv};
    unsigned blocks = (unsigned)((a.items + WARPS - 1) / WARPS);
    scan_columns<<<blocks, 32 * WARPS, 0, stream>>>(a);
    return (int)cudaGetLastError();
}
