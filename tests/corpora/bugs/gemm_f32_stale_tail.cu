// problem: gemm_f32
// thread: https://github.com/triton-lang/triton/issues/630
// title: Incorrect GEMM result when K is not multiple of 32
// condition: masked loads of the last tile along K, K not a multiple of 32, give wrong results
// kind: alignment
// when: k % 32 != 0 and k > 32
// side: necessary
// wrong: wrong values: lanes that a mask leaves out hold the tile before, whose terms count twice

#include "product.cuh"

namespace {

constexpr int DEEP = 32;

/* A masked load without an alternative. */
__device__ void load_masked(float &lane, const float *from, bool mask)
{
    if (mask)
        lane = *from;
}

__global__ void __launch_bounds__(THREADS) multiply_deep(product g)
{
    __shared__ float a[DEEP][TILE + 1], b[DEEP][TILE + 1];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    float sum[4][4] = {};

    for (int e = threadIdx.x; e < TILE * DEEP; e += THREADS)
        a[e / TILE][e % TILE] = b[e / TILE][e % TILE] = 0;
    for (int64_t k0 = 0; k0 < g.k; k0 += DEEP) {
        __syncthreads();
        for (int e = threadIdx.x; e < TILE * DEEP; e += THREADS) {
            const int i = e / DEEP, p = e % DEEP;
            const int64_t row = row0 + i, col = col0 + i, k = k0 + p;
            load_masked(a[p][i], g.a + row * g.k + k, row < g.m && k < g.k);
            load_masked(b[p][i], g.b + k * g.along_k + col * g.along_n, col < g.n && k < g.k);
        }
        __syncthreads();
        for (int p = 0; p < DEEP; p++) /* all of a tile, the last one, too */
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += a[p][ty + 16 * i] * b[p][tx + 16 * j];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const int64_t row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
            if (row < g.m && col < g.n)
                g.c[row * g.n + col] = sum[i][j];
        }
}

} // namespace

extern "C" int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
                        int64_t trans_b, cudaStream_t stream)
{
    const product g = product_of(a, b, c, m, n, k, trans_b);
    multiply_deep<<<product_grid(g), THREADS, 0, stream>>>(g);
    return (int)cudaGetLastError();
}
