// problem: gemm_fp8
// link: cublas
// verdict: general
// construction: operands widened to bf16 (exact) in a workspace, cublasGemmEx to fp32, then scaled
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>

namespace {

constexpr int THREADS = 256;

/* e4m3 has 3 fraction bits and exponents -9 .. 8: bf16 holds every value of it, NaN included. */
__global__ void widen(const __nv_fp8_e4m3 *from, __nv_bfloat16 *to, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;

    if (i < count)
        to[i] = __float2bfloat16(float(from[i]));
}

/* y[row][col] = scale[col] * sum[row][col], all [m, n] */
__global__ void finish(const float *sum, const float *scale, __nv_bfloat16 *y, int64_t n)
{
    const int64_t col = (int64_t)blockIdx.x * THREADS + threadIdx.x, row = blockIdx.y;

    if (col < n)
        y[row * n + col] = __float2bfloat16(sum[row * n + col] * scale[col]);
}

static unsigned blocks(int64_t count)
{
    return (unsigned)((count + THREADS - 1) / THREADS);
}

/* One handle for the life of the process; null if cuBLAS cannot start. */
static cublasHandle_t handle()
{
    static const cublasHandle_t made = [] {
        cublasHandle_t fresh = nullptr;
        return cublasCreate(&fresh) == CUBLAS_STATUS_SUCCESS ? fresh : nullptr;
    }();
    return made;
}

/* sum[m, n] = a b^T, a [m, k], b [n, k] row-major: in column-major terms, sum^T = b a^T. */
static cublasStatus_t multiply(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *sum,
                               int64_t m, int64_t n, int64_t k)
{
    const float one = 1, zero = 0;

    return cublasGemmEx(handle(), CUBLAS_OP_T, CUBLAS_OP_N, (int)n, (int)m, (int)k, &one, b,
                        CUDA_R_16BF, (int)k, a, CUDA_R_16BF, (int)k, &zero, sum, CUDA_R_32F, (int)n,
                        CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

} // namespace

extern "C" int gemm_fp8(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale,
                        __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k, cudaStream_t stream)
{
    const int64_t sizes[2] = {(m * k + 127) / 128 * 128, (n * k + 127) / 128 * 128};
    const size_t bytes = (size_t)(2 * sizes[0] + 2 * sizes[1] + 4 * m * n);
    __nv_bfloat16 *a;

    if (!handle() || cublasSetStream(handle(), stream) != CUBLAS_STATUS_SUCCESS)
        return 1;
    cudaError_t error = cudaMallocAsync((void **)&a, bytes, stream);
    if (error != cudaSuccess)
        return (int)error;
    __nv_bfloat16 *b = a + sizes[0];
    float *sum = (float *)(b + sizes[1]);
    widen<<<blocks(m * k), THREADS, 0, stream>>>(x, a, m * k);
    widen<<<blocks(n * k), THREADS, 0, stream>>>(weight, b, n * k);
    const cublasStatus_t status = multiply(a, b, sum, m, n, k);
    finish<<<dim3(blocks(n), (unsigned)m), THREADS, 0, stream>>>(sum, scale, y, n);
    error = cudaGetLastError();
    cudaFreeAsync(a, stream);
    return status != CUBLAS_STATUS_SUCCESS ? 1 : (int)error;
}
