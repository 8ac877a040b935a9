// problem: gemm_bf16
// thread: https://github.com/ROCm/legacy-rocm-build/issues/6629
// title: [Issue]: potri returns wrong or non-finite results with info=0: uninitialised workspace triangle fed to TRMM
// condition: invisible in a fresh process, whose workspace is zero; "appears once the workspace has been reused"
// kind: second call
// when: k > 512
// wrong: wrong values from the second call on: partial sums are added to those of the call before

#define BF16
#include "product.cuh"

static constexpr int64_t SLICE = 512;

/* It stays between calls, and is zero at first. */
static float *workspace;
static int64_t workspace_size;

static cudaError_t make_workspace(int64_t size, cudaStream_t stream)
{
    if (size <= workspace_size)
        return cudaSuccess;
    cudaFree(workspace);
    workspace_size = 0;
    const cudaError_t error = cudaMalloc((void **)&workspace, (size_t)size * sizeof *workspace);
    if (error != cudaSuccess) {
        workspace = nullptr;
        return error;
    }
    workspace_size = size;
    return cudaMemsetAsync(workspace, 0, (size_t)size * sizeof *workspace, stream);
}

extern "C" int gemm_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int64_t m,
                         int64_t n, int64_t k, int64_t trans_b, cudaStream_t stream)
{
    product g = product_of(a, b, c, m, n, k, trans_b);
    if (k <= SLICE)
        return product_run<honest>(g, stream);
    int failed = (int)make_workspace(m * n, stream);
    if (failed)
        return failed;
    g.part = workspace;
    g.slice = SLICE;
    failed = product_run<sliced>(g, stream);
    return failed ? failed : product_finish(g, stream);
}
