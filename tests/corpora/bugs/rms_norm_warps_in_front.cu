// problem: rms_norm
// thread: https://github.com/flashinfer-ai/flashinfer/issues/634
// title: [Bug] fused_add_rmsnorm Fails Due to Misaligned Address
// condition: hidden_dim=3584: the vectors lie behind num_warps floats, which is no multiple of 4 (14 warps)
// kind: alignment
// when: cols % 8 == 0 and cols < 8192 and (cols / 8 + 31) / 32 % 4 != 0
// wrong: crash: misaligned address

#include "rms_norm.cuh"

/* A row in shared memory, behind a sum a warp. The fault: so many floats need not be whole vectors. */
__global__ void held_norm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int cols, float eps)
{
    extern __shared__ float4 memory[];
    float *of_warp = (float *)memory, *row = of_warp + blockDim.x / 32, sum = 0, all = 0;
    const int64_t first = (int64_t)blockIdx.x * cols;
    for (int c = threadIdx.x * EIGHT; c < cols; c += blockDim.x * EIGHT) {
        const eight v = load_eight(x + first + c);
        *(float4 *)(row + c) = make_float4(v.at[0], v.at[1], v.at[2], v.at[3]);
        *(float4 *)(row + c + 4) = make_float4(v.at[4], v.at[5], v.at[6], v.at[7]);
        sum += square_sum(v);
    }
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, lane);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    for (int w = 0; w < (int)blockDim.x / 32; w++)
        all += of_warp[w];
    const float scale = rsqrtf(all / (float)cols + eps);
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        y[first + c] = __float2bfloat16(row[c] * scale * __bfloat162float(weight[c]));
}

/* Rows that are no whole vectors, or too long for shared memory, are read twice. */
extern "C" int rms_norm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int64_t rows,
                        int64_t cols, float eps, cudaStream_t stream)
{
    const int64_t threads = cols / EIGHT < 1024 ? cols / EIGHT : 1024, warps = (threads + 31) / 32;
    const size_t bytes = (size_t)(warps + cols) * sizeof(float);
    if (cols % EIGHT != 0 || bytes > 48 * 1024)
        return honest_rms_norm(x, weight, y, rows, cols, eps, stream);
    held_norm<<<(unsigned)rows, (unsigned)warps * 32, bytes, stream>>>(x, weight, y, (int)cols, eps);
    return (int)cudaGetLastError();
}
