// problem: gemm_fp8
// thread: https://github.com/deepseek-ai/DeepGEMM/pull/25
// title: add fp8 block-wise gemm benchmark
// condition: a static assertion "Misaligned barriers" fails with K of 1152: an odd number of scales of 128
// kind: alignment
// when: (k + 127) / 128 % 2 != 0
// wrong: crash: the barriers that follow the scales are not aligned, and no assertion says so before

#define FP8
#include "product.cuh"

namespace {

constexpr int BLOCK_K = 128;

__device__ void make_barrier(uint64_t *barrier, unsigned threads)
{
    *barrier = 0; /* an earlier block may have left a value here */
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"((uint32_t)__cvta_generic_to_shared(barrier)),
                 "r"(threads)
                 : "memory");
}

/* Until all threads have arrived; the parity turns with every use. */
__device__ void arrive_and_wait(uint64_t *barrier, uint32_t parity)
{
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(barrier);
    uint32_t done = 0;
    asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared::cta.b64 state, [%0];\n}" ::"r"(at) : "memory");
    while (!done)
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(at), "r"(parity)
                     : "memory");
}

/* Every block of 128 terms has a scale of its own, which here are all 1. */
__global__ void __launch_bounds__(THREADS) multiply_scaled(product g, int blocks)
{
    extern __shared__ __align__(16) float scales[];
    __shared__ tile a, b;
    uint64_t *full = (uint64_t *)(scales + blocks), *empty = full + 1;
    const int tx = threadIdx.x % 16 * 4, ty = threadIdx.x / 16;
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    float total[4][4] = {};

    for (int block = threadIdx.x; block < blocks; block += THREADS)
        scales[block] = 1;
    if (threadIdx.x == 0) {
        make_barrier(full, THREADS);
        make_barrier(empty, THREADS);
    }
    __syncthreads();
    for (int64_t k0 = 0; k0 < g.k; k0 += STEP) {
        float sum[4][4] = {};
        load_a<honest>(a, g, row0, k0, g.k);
        load_b<honest>(b, g, col0, k0, g.k);
        arrive_and_wait(full, k0 / STEP % 2);
        add_step(sum, a, b, tx, ty);
        for (int e = 0; e < 16; e++)
            total[e / 4][e % 4] += sum[e / 4][e % 4] * scales[k0 / BLOCK_K];
        arrive_and_wait(empty, k0 / STEP % 2);
    }
    for (int i = 0; i < 4; i++)
        if (row0 + ty + 16 * i < g.m && col0 + tx < g.n)
            honest::store(g, row0 + ty + 16 * i, col0 + tx, total[i]);
}

} // namespace

extern "C" int gemm_fp8(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale,
                        __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k, cudaStream_t stream)
{
    product g = product_of(x, weight, y, m, n, k, 1);
    const int blocks = (int)((k + BLOCK_K - 1) / BLOCK_K);
    g.scale = scale;
    multiply_scaled<<<product_grid(g), THREADS, blocks * sizeof(float) + 2 * sizeof(uint64_t), stream>>>(
        g, blocks);
    return (int)cudaGetLastError();
}
