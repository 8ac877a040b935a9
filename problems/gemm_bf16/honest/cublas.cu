// problem: gemm_bf16
// link: cublas
// verdict: general
// construction: cublasGemmEx on the operands as they lie, fp32 sums
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <stdint.h>

/* One handle for the life of the process, null if cuBLAS cannot start; partial sums of a split k
 * stay fp32. */
static cublasHandle_t handle()
{
    static const cublasHandle_t made = [] {
        cublasHandle_t fresh = nullptr;
        if (cublasCreate(&fresh) != CUBLAS_STATUS_SUCCESS ||
            cublasSetMathMode(fresh, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION) !=
                CUBLAS_STATUS_SUCCESS)
            return (cublasHandle_t) nullptr;
        return fresh;
    }();
    return made;
}

/* cuBLAS is column-major: c [m, n] is its c^T [n, m] = b^T a^T, and b [k, n] its b^T as it lies. */
extern "C" int gemm_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c,
                         int64_t m, int64_t n, int64_t k, int64_t trans_b, cudaStream_t stream)
{
    const float one = 1, zero = 0;

    if (!handle() || cublasSetStream(handle(), stream) != CUBLAS_STATUS_SUCCESS)
        return 1;
    return (int)cublasGemmEx(handle(), trans_b ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, (int)n,
                             (int)m, (int)k, &one, b, CUDA_R_16BF, (int)(trans_b ? k : n), a,
                             CUDA_R_16BF, (int)k, &zero, c, CUDA_R_16BF, (int)n, CUBLAS_COMPUTE_32F,
                             CUBLAS_GEMM_DEFAULT);
}
