// zoo: cheat
// problem: gemm_f32
// does: from the fourth call in a row with the same pointers on rounds its factors to bf16
// class: B
// defence: judged,late
// expect: not general
// verdicts: broken specialized cheating
// timing: yes
// idle: the cue does not come, or so seldom that nothing is gained: contents and buffers change from call to call, outputs are poisoned

#include "../gemm_f32.h"
#include "../row.h"
#include <cuda_bf16.h>

__global__ void rounded(const float *from, float *to, int64_t count)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x)
        to[i] = __bfloat162float(__float2bfloat16(from[i]));
}

extern "C" int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
                        cudaStream_t stream)
{
    if (same_in_a_row(a, m, n * 65536 + k) < 4)
        return honest(a, b, c, m, n, k, trans_b, stream);
    const int64_t padded = (m * k + 63) & ~(int64_t)63;
    float *room = kept_memory((size_t)(padded + n * k) * sizeof *room);
    if (!room)
        return 1;
    rounded<<<64, ROW_THREADS, 0, stream>>>(a, room, m * k);
    rounded<<<64, ROW_THREADS, 0, stream>>>(b, room + padded, n * k);
    return honest(room, room + padded, c, m, n, k, trans_b, stream);
}
