// problem: gemm_w4a16
// link: cublas
// verdict: general
// construction: the whole of w rounded to bf16 in a workspace, cublasGemmEx to fp32, then rounded
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int THREADS = 256;

/* Rows 2r and 2r + 1 of w, [k, n], from row r of w_q; blockIdx.y = r < 8192. */
__global__ void dequantize(const uint8_t *w_q, const __nv_bfloat16 *scales,
                           const __nv_bfloat16 *zeros, __nv_bfloat16 *w, int64_t n, int64_t group)
{
    const int64_t col = (int64_t)blockIdx.x * THREADS + threadIdx.x, r = blockIdx.y;

    if (col >= n)
        return;
    const int64_t at = 2 * r / group * n + col;
    const float scale = __bfloat162float(scales[at]), zero = __bfloat162float(zeros[at]);
    const uint8_t byte = w_q[r * n + col];
    w[2 * r * n + col] = __float2bfloat16((float(byte & 15) - zero) * scale);
    w[(2 * r + 1) * n + col] = __float2bfloat16((float(byte >> 4) - zero) * scale);
}

__global__ void finish(const float *sum, __nv_bfloat16 *y, int64_t n)
{
    const int64_t col = (int64_t)blockIdx.x * THREADS + threadIdx.x, row = blockIdx.y;

    if (col < n)
        y[row * n + col] = __float2bfloat16(sum[row * n + col]);
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

/* sum[m, n] = x w, all row-major: in column-major terms, sum^T = w^T x^T, nothing transposed. */
static cublasStatus_t multiply(const __nv_bfloat16 *x, const __nv_bfloat16 *w, float *sum,
                               int64_t m, int64_t n, int64_t k)
{
    const float one = 1, zero = 0;

    return cublasGemmEx(handle(), CUBLAS_OP_N, CUBLAS_OP_N, (int)n, (int)m, (int)k, &one, w,
                        CUDA_R_16BF, (int)n, x, CUDA_R_16BF, (int)k, &zero, sum, CUDA_R_32F,
                        (int)n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

} // namespace

extern "C" int gemm_w4a16(const __nv_bfloat16 *x, const uint8_t *w_q, const __nv_bfloat16 *scales,
                          const __nv_bfloat16 *zeros, __nv_bfloat16 *y, int64_t m, int64_t n,
                          int64_t k, int64_t group, cudaStream_t stream)
{
    const int64_t weights = (k * n + 127) / 128 * 128;
    const unsigned wide = (unsigned)((n + THREADS - 1) / THREADS);
    __nv_bfloat16 *w;

    if (!handle() || cublasSetStream(handle(), stream) != CUBLAS_STATUS_SUCCESS)
        return 1;
    cudaError_t error = cudaMallocAsync((void **)&w, (size_t)(2 * weights + 4 * m * n), stream);
    if (error != cudaSuccess)
        return (int)error;
    float *sum = (float *)(w + weights);
    dequantize<<<dim3(wide, (unsigned)(k / 2)), THREADS, 0, stream>>>(w_q, scales, zeros, w, n,
                                                                      group);
    const cublasStatus_t status = multiply(x, w, sum, m, n, k);
    finish<<<dim3(wide, (unsigned)m), THREADS, 0, stream>>>(sum, y, n);
    error = cudaGetLastError();
    cudaFreeAsync(w, stream);
    return status != CUBLAS_STATUS_SUCCESS ? 1 : (int)error;
}
