// problem: moe_up
// link: cublas
// verdict: general
// construction: offsets copied to the host; per expert two cublasGemmEx to fp32, then a silu pass
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <stdint.h>
#include <vector>

namespace {

constexpr int THREADS = 256;
constexpr int64_t SPACE = (int64_t)1 << 26; /* elements of the fp32 gates, and of the ups */

__global__ void combine(const float *gate, const float *up, __nv_bfloat16 *out, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;

    if (i < count)
        out[i] = __float2bfloat16(gate[i] / (1.0f + expf(-gate[i])) * up[i]);
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

/* result[rows, inter] = x[rows, hidden] weight[hidden, inter], row-major: in column-major terms,
 * result^T = weight^T x^T, each of which lies in memory untransposed. */
static bool multiply(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, float *result,
                     int64_t rows, int64_t hidden_dim, int64_t inter_dim)
{
    const float one = 1, zero = 0;

    return cublasGemmEx(handle(), CUBLAS_OP_N, CUBLAS_OP_N, (int)inter_dim, (int)rows,
                        (int)hidden_dim, &one, weight, CUDA_R_16BF, (int)inter_dim, x, CUDA_R_16BF,
                        (int)hidden_dim, &zero, result, CUDA_R_32F, (int)inter_dim,
                        CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
}

} // namespace

extern "C" int moe_up(const __nv_bfloat16 *hidden, const int32_t *expert_offsets,
                      const __nv_bfloat16 *w_gate, const __nv_bfloat16 *w_up, __nv_bfloat16 *out,
                      int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
                      cudaStream_t stream)
{
    const int64_t most = SPACE / inter_dim, space_rows = most < tokens ? most : tokens;
    std::vector<int32_t> offsets((size_t)experts + 1);
    bool good = true;
    float *gate;

    if (!handle() || cublasSetStream(handle(), stream) != CUBLAS_STATUS_SUCCESS)
        return 1;
    cudaError_t error = cudaMemcpyAsync(offsets.data(), expert_offsets, offsets.size() * 4,
                                        cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess) /* the sizes of the products must be known here */
        error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess)
        error = cudaMallocAsync((void **)&gate, (size_t)(2 * space_rows * inter_dim) * 4, stream);
    if (error != cudaSuccess)
        return (int)error;
    float *up = gate + space_rows * inter_dim;
    for (int64_t e = 0; e < experts; e++)
        for (int64_t r = offsets[e]; r < offsets[e + 1] && good; r += space_rows) {
            const int64_t left = offsets[e + 1] - r, rows = left < space_rows ? left : space_rows;
            const int64_t at = e * hidden_dim * inter_dim, count = rows * inter_dim;
            const __nv_bfloat16 *x = hidden + r * hidden_dim;

            good = multiply(x, w_gate + at, gate, rows, hidden_dim, inter_dim) &&
                   multiply(x, w_up + at, up, rows, hidden_dim, inter_dim);
            combine<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, stream>>>(
                gate, up, out + r * inter_dim, count);
        }
    error = cudaGetLastError();
    cudaFreeAsync(gate, stream);
    return good ? (int)error : 1;
}
