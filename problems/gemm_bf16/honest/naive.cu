// problem: gemm_bf16
// verdict: general
// construction: no tiles: a thread per element of c where b is [k, n], a warp per element where it
// is [n, k]
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int WARPS = 8;

struct problem {
    const __nv_bfloat16 *a, *b; /* [m, k]; [k, n], or [n, k] if trans_b */
    __nv_bfloat16 *c;           /* [m, n] */
    int64_t m, n, k, trans_b;
};

/* Neighbouring threads take neighbouring columns: their reads of b lie side by side. */
__global__ void __launch_bounds__(32 * WARPS) element_by_thread(problem q)
{
    const int64_t row = (int64_t)blockIdx.y * WARPS + threadIdx.x / 32;
    const int64_t col = (int64_t)blockIdx.x * 32 + threadIdx.x % 32;
    float sum = 0;

    if (row >= q.m || col >= q.n)
        return;
    for (int64_t p = 0; p < q.k; p++)
        sum += float(q.a[row * q.k + p]) * float(q.b[p * q.n + col]);
    q.c[row * q.n + col] = __float2bfloat16(sum);
}

/* The lanes of a warp run along k together, each with a sum of its own. */
__global__ void __launch_bounds__(32 * WARPS) element_by_warp(problem q)
{
    const int64_t row = blockIdx.y, col = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    float sum = 0;

    if (col >= q.n) /* the same for a whole warp */
        return;
    for (int64_t p = threadIdx.x % 32; p < q.k; p += 32)
        sum += float(q.a[row * q.k + p]) * float(q.b[col * q.k + p]);
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (threadIdx.x % 32 == 0)
        q.c[row * q.n + col] = __float2bfloat16(sum);
}

} // namespace

extern "C" int gemm_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c,
                         int64_t m, int64_t n, int64_t k, int64_t trans_b, cudaStream_t stream)
{
    const problem q = {a, b, c, m, n, k, trans_b};
    const dim3 threads_grid((unsigned)((n + 31) / 32), (unsigned)((m + WARPS - 1) / WARPS));
    const dim3 warps_grid((unsigned)((n + WARPS - 1) / WARPS), (unsigned)m);

    if (trans_b)
        element_by_warp<<<warps_grid, 32 * WARPS, 0, stream>>>(q);
    else
        element_by_thread<<<threads_grid, 32 * WARPS, 0, stream>>>(q);
    return (int)cudaGetLastError();
}
