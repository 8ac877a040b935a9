// problem: gemm_f32
// thread: https://github.com/NVIDIA/cutlass/issues/2348
// title: [QST] Sm80 TF32/BF16/FP16 grouped gemm encounter illegal memory access
// condition: misaligned addresses with shapes such as (33, 1024), none with regular ones (32, 64, 128)
// kind: alignment
// when: m % 4 != 0 and n > 1
// wrong: crash: columns of a column-major copy of c, m long, are read four rows at a time as if all began at 16 bytes

#include "product.cuh"

namespace {

struct column_major : honest {
    static __device__ void store(const product &g, int64_t i, int64_t j, const float *sum)
    {
        for (int l = 0; l < 4 && j + l < g.n; l++)
            g.part[(j + l) * g.m + i] = sum[l];
    }
};

/* Four rows of a column a thread, from [n, m] to [m, n]. The last four go on into the padding of the copy. */
__global__ void turn(product g)
{
    const int64_t thread = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int64_t j = thread % g.n, i = thread / g.n * 4;
    if (i >= g.m)
        return;
    const float4 rows = *(const float4 *)(g.part + j * g.m + i);
    const float row[4] = {rows.x, rows.y, rows.z, rows.w};
    for (int l = 0; l < 4 && i + l < g.m; l++)
        g.c[(i + l) * g.n + j] = row[l];
}

} // namespace

extern "C" int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
                        int64_t trans_b, cudaStream_t stream)
{
    product g = product_of(a, b, c, m, n, k, trans_b);
    const int64_t threads = (m + 3) / 4 * n, blocks = (threads + THREADS - 1) / THREADS;
    int failed = (int)cudaMallocAsync((void **)&g.part, (size_t)(m * n + 3) * sizeof *g.part, stream);
    if (failed)
        return failed;
    failed = product_run<column_major>(g, stream);
    turn<<<(unsigned)blocks, THREADS, 0, stream>>>(g);
    failed = failed ? failed : (int)cudaGetLastError();
    cudaFreeAsync(g.part, stream);
    return failed;
}
