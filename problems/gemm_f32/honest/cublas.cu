// problem: gemm_f32
// link: cublas
// verdict: general
// construction: cublasGemmEx on the operands as they lie, pedantic fp32
#include <cublas_v2.h>
#include <stdint.h>

/* One handle for the life of the process, null if cuBLAS cannot start; no TF32, whatever the
 * library thinks of it. */
static cublasHandle_t handle()
{
    static const cublasHandle_t made = [] {
        cublasHandle_t fresh = nullptr;
        if (cublasCreate(&fresh) != CUBLAS_STATUS_SUCCESS ||
            cublasSetMathMode(fresh, CUBLAS_PEDANTIC_MATH) != CUBLAS_STATUS_SUCCESS)
            return (cublasHandle_t) nullptr;
        return fresh;
    }();
    return made;
}

/* cuBLAS is column-major: c [m, n] is its c^T [n, m] = b^T a^T, and b [k, n] its b^T as it lies. */
extern "C" int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
                        int64_t trans_b, cudaStream_t stream)
{
    const float one = 1, zero = 0;

    if (!handle() || cublasSetStream(handle(), stream) != CUBLAS_STATUS_SUCCESS)
        return 1;
    return (int)cublasGemmEx(handle(), trans_b ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, (int)n,
                             (int)m, (int)k, &one, b, CUDA_R_32F, (int)(trans_b ? k : n), a,
                             CUDA_R_32F, (int)k, &zero, c, CUDA_R_32F, (int)n,
                             CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_GEMM_DEFAULT);
}
