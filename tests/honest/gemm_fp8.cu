// problem: gemm_fp8
// construction: every admitted freedom a switch, every fault a mutant: gemm_fp8.h; and the GPU's own matrix units
#include "gemm_fp8.h"

#include <cuda_bf16.h>
#include <mma.h>

namespace {

constexpr int THREADS = 128;

/* A thread computes one output, all parts of k. */
__global__ void __launch_bounds__(THREADS) by_element(const __grid_constant__ fp8 p, uint16_t *y)
{
    const int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t index = (int64_t)blockIdx.x * THREADS + threadIdx.x; index < p.m * p.n; index += step)
        y[index] = fp8_element(&p, index / p.n, index % p.n);
}

/* Outputs of a tile [rows, columns] from the partial sums in part[s][row * columns + column]. */
__device__ void finish_tile(const fp8 &p, uint16_t *y, const float *part, int64_t row0, int64_t col0, int rows,
                            int columns)
{
    const int size = rows * columns;
    for (int e = threadIdx.x; e < size; e += blockDim.x) {
        const int64_t i = row0 + e / columns, j = col0 + e % columns;
        double sum[MAX_PARTS];
        if (i >= p.m || j >= p.n)
            continue;
        for (int s = 0; s < fp8_parts(&p); s++)
            sum[s] = part[s * size + e];
        y[i * p.n + j] = fp8_finish(&p, i, j, sum);
    }
}

/* Where the t-th of the steps that cover [first, end) starts, and whether it is the last of its block. */
__device__ int64_t step_start(const fp8 &p, int64_t first, int64_t end, int depth, int64_t t)
{
    const int64_t steps = (end - first + depth - 1) / depth;
    return first + depth * (p.choice[ORDER] == DOWN ? steps - 1 - t : t);
}

__device__ bool block_ends(const fp8 &p, int64_t t, int depth)
{
    return p.choice[BLOCK] != 0 && (t + 1) * depth % fp8_block(&p) == 0;
}

/* --- 16-bit units: a warp and a tile of 16 x 16, operands widened to bf16, which is exact --- */

enum { SIDE = 16 };
using namespace nvcuda;
typedef wmma::fragment<wmma::accumulator, SIDE, SIDE, SIDE, float> accumulator;

/* tile[r][l] = operand[row0 + r][k0 + l], zero from `rows` and from `end` on. */
__device__ void widen(__nv_bfloat16 *tile, const uint8_t *operand, int64_t row0, int64_t rows, int64_t k0, int64_t end,
                      int64_t k)
{
    for (int e = threadIdx.x; e < SIDE * SIDE; e += 32) {
        const int64_t row = row0 + e / SIDE, depth = k0 + e % SIDE;
        tile[e] = __float2bfloat16(row < rows && depth < end ? fp8_value(operand[row * k + depth]) : 0.0f);
    }
}

__device__ void add_fragment(accumulator &total, accumulator &sum)
{
    for (int e = 0; e < total.num_elements; e++)
        total.x[e] += sum.x[e];
    wmma::fill_fragment(sum, 0.0f);
}

__global__ void __launch_bounds__(32) by_wmma(const __grid_constant__ fp8 p, uint16_t *y)
{
    __shared__ __align__(32) __nv_bfloat16 a[SIDE * SIDE], b[SIDE * SIDE];
    __shared__ __align__(32) float part[MAX_PARTS * SIDE * SIDE];
    const int64_t across = (p.n + SIDE - 1) / SIDE;
    const int64_t row0 = blockIdx.x / across * SIDE, col0 = blockIdx.x % across * SIDE;
    wmma::fragment<wmma::matrix_a, SIDE, SIDE, SIDE, __nv_bfloat16, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, SIDE, SIDE, SIDE, __nv_bfloat16, wmma::col_major> w;
    accumulator sum, total;

    for (int s = 0; s < fp8_parts(&p); s++) {
        const int64_t first = fp8_start(&p, s), end = fp8_start(&p, s + 1);
        wmma::fill_fragment(sum, 0.0f);
        wmma::fill_fragment(total, 0.0f);
        for (int64_t t = 0; t < (end - first + SIDE - 1) / SIDE; t++) {
            const int64_t k0 = step_start(p, first, end, SIDE, t);
            widen(a, p.x, row0, p.m, k0, end, p.k);
            widen(b, p.weight, col0, p.n, k0, end, p.k);
            __syncwarp();
            wmma::load_matrix_sync(x, a, SIDE);
            wmma::load_matrix_sync(w, b, SIDE);
            wmma::mma_sync(sum, x, w, sum);
            __syncwarp();
            if (block_ends(p, t, SIDE))
                add_fragment(total, sum);
        }
        add_fragment(total, sum);
        wmma::store_matrix_sync(part + s * SIDE * SIDE, total, SIDE, wmma::mem_row_major);
    }
    __syncwarp();
    finish_tile(p, y, part, row0, col0, SIDE, SIDE);
}

/* --- fp8 units of Hopper: a warpgroup and a tile of 64 x 8 --- */

enum { TALL = 64, WIDE = 8, DEPTH = 128, STEP = 32 };

/* Rows of 128 bytes from k0 on, zero from `rows` and from `end` on. The 128-byte swizzle puts 16-byte chunk c
 * of row r at c ^ (r % 8). Thread t brings byte t of every row. */
__device__ void stage(uint8_t *tile, const uint8_t *operand, int64_t row0, int64_t rows, int count, int64_t k0,
                      int64_t end, int64_t k)
{
    const int byte = threadIdx.x;
    for (int r = 0; r < count; r++) {
        const bool inside = row0 + r < rows && k0 + byte < end;
        tile[r * DEPTH + ((byte / 16 ^ r % 8) << 4) + byte % 16] = inside ? operand[(row0 + r) * k + k0 + byte] : 0;
    }
}

/* Matrix descriptor of such rows: address / 16 in bits 0-13, the distance of groups of 8 rows, 1024 / 16, from bit 32,
 * swizzle mode 1 (128 bytes) in bits 62-63. */
__device__ uint64_t describe(const uint8_t *tile)
{
    const uint32_t address = (uint32_t)__cvta_generic_to_shared(tile);
    return (uint64_t)(address >> 4 & 0x3fff) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}

/* Makes the threads' writes to shared memory visible to wgmma. */
__device__ void publish()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/* d += a b^T, a 64 x 32, b 8 x 32; waits for the result. */
__device__ void wgmma(float (&d)[4], uint64_t a, uint64_t b)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{\n"
                 ".reg .pred accumulate;\n"
                 "setp.ne.b32 accumulate, %6, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%0, %1, %2, %3}, %4, %5, accumulate, 1, 1;\n"
                 "}\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(a), "l"(b), "r"(1));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
#else
    (void)d, (void)a, (void)b;
    __trap(); /* launched on compute capability 9.0 only */
#endif
}

__device__ void add_sum(float (&total)[4], float (&sum)[4])
{
    for (int e = 0; e < 4; e++) {
        total[e] += sum[e];
        sum[e] = 0;
    }
}

/* Lane 4g + t of warp w has columns 2t, 2t + 1 of row 16w + g, then of row 16w + g + 8. */
__device__ void keep(float *part, const float (&total)[4])
{
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
    for (int e = 0; e < 4; e++)
        part[(row + e / 2 * 8) * WIDE + column + e % 2] = total[e];
}

__global__ void __launch_bounds__(128) by_wgmma(const __grid_constant__ fp8 p, uint16_t *y)
{
    __shared__ __align__(1024) uint8_t a[TALL * DEPTH], b[WIDE * DEPTH];
    __shared__ float part[MAX_PARTS * TALL * WIDE];
    const int64_t across = (p.n + WIDE - 1) / WIDE;
    const int64_t row0 = blockIdx.x / across * TALL, col0 = blockIdx.x % across * WIDE;

    for (int s = 0; s < fp8_parts(&p); s++) {
        const int64_t first = fp8_start(&p, s), end = fp8_start(&p, s + 1);
        float sum[4] = {}, total[4] = {};
        for (int64_t t = 0; t < (end - first + DEPTH - 1) / DEPTH; t++) {
            const int64_t k0 = step_start(p, first, end, DEPTH, t);
            __syncthreads(); /* all reads of the tiles are over */
            stage(a, p.x, row0, p.m, TALL, k0, end, p.k);
            stage(b, p.weight, col0, p.n, WIDE, k0, end, p.k);
            publish();
            __syncthreads();
            for (int q = 0; q < DEPTH / STEP; q++) {
                wgmma(sum, describe(a) + 2 * q, describe(b) + 2 * q); /* 32 bytes, in units of 16 */
                if (block_ends(p, t * (DEPTH / STEP) + q, STEP))
                    add_sum(total, sum);
            }
        }
        add_sum(total, sum);
        keep(part + s * TALL * WIDE, total);
    }
    __syncthreads();
    finish_tile(p, y, part, row0, col0, TALL, WIDE);
}

bool is_hopper()
{
    int device = 0, major = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    return major == 9;
}

} // namespace

extern "C" int gemm_fp8(const uint8_t *x, const uint8_t *weight, const float *scale, uint16_t *y, int64_t m, int64_t n,
                        int64_t k, cudaStream_t stream)
{
    fp8 p = {x, weight, scale, m, n, k, {0}, honest_mutating, honest_unrounded};
    memcpy(p.choice, honest_choice, sizeof p.choice);
    const int engine = p.choice[ENGINE];
    const int64_t wide = (n + WIDE - 1) / WIDE * ((m + TALL - 1) / TALL);
    const int64_t square = (n + SIDE - 1) / SIDE * ((m + SIDE - 1) / SIDE);
    const int64_t blocks = (m * n + THREADS - 1) / THREADS;

    if (engine == UNIT_B && is_hopper()) /* elsewhere the 16-bit units, which all admit */
        by_wgmma<<<(unsigned)wide, 128, 0, stream>>>(p, y);
    else if (engine >= UNIT_A)
        by_wmma<<<(unsigned)square, 32, 0, stream>>>(p, y);
    else
        by_element<<<(unsigned)(blocks < 1 << 20 ? blocks : 1 << 20), THREADS, 0, stream>>>(p, y);
    return (int)cudaGetLastError();
}
