// problem: gemm_w4a16
// construction: every admitted freedom a switch, every fault a mutant: gemm_w4a16.h; and the GPU's own matrix units
#include "gemm_w4a16.h"

#include <cuda_bf16.h>
#include <mma.h>

namespace {

constexpr int THREADS = 128;

/* A thread computes one output, all parts of k. */
__global__ void __launch_bounds__(THREADS) by_element(const __grid_constant__ w4 p, uint16_t *y)
{
    const int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t index = (int64_t)blockIdx.x * THREADS + threadIdx.x; index < p.m * p.n; index += step)
        y[index] = w4_element(&p, index / p.n, index % p.n);
}

/* --- 16-bit units: a warp and a tile of 16 x 16, of which each lane finishes 8 outputs --- */

enum { SIDE = 16, TILE = SIDE * SIDE, LANE = TILE / 32 };
using namespace nvcuda;
typedef wmma::fragment<wmma::accumulator, SIDE, SIDE, SIDE, float> accumulator;

struct tile {
    int64_t row, column; /* the place of its first output */
};

/* x[r][l] = x[row + r][k0 + l], and w[l][c] is the factor of row k0 + l and column + c. Both are zero outside
 * and from `end` on. */
__device__ void load(const w4 &p, tile at, int64_t k0, int64_t end, factor by, __nv_bfloat16 *x, __nv_bfloat16 *w)
{
    for (int e = threadIdx.x; e < TILE; e += 32) {
        const int64_t row = at.row + e / SIDE, column = at.column + e % SIDE;
        const int64_t across = k0 + e % SIDE, down = k0 + e / SIDE;
        x[e] = __float2bfloat16(row < p.m && across < end ? w4_x(&p, row, across) : 0.0f);
        w[e] = __float2bfloat16(column < p.n && down < end ? w4_factor(&p, by, down, column) : 0.0f);
    }
}

__device__ void add_fragment(accumulator &total, accumulator &sum)
{
    for (int e = 0; e < total.num_elements; e++)
        total.x[e] += sum.x[e];
    wmma::fill_fragment(sum, 0.0f);
}

/* out = the sums of terms first to end - 1, blocks of them added in fp32. */
__device__ void multiply(const w4 &p, tile at, int64_t first, int64_t end, factor by, float *out)
{
    __shared__ __align__(32) __nv_bfloat16 x[TILE], w[TILE];
    wmma::fragment<wmma::matrix_a, SIDE, SIDE, SIDE, __nv_bfloat16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, SIDE, SIDE, SIDE, __nv_bfloat16, wmma::row_major> b;
    accumulator sum, total;
    const int64_t steps = (end - first + SIDE - 1) / SIDE;

    wmma::fill_fragment(sum, 0.0f);
    wmma::fill_fragment(total, 0.0f);
    for (int64_t t = 0; t < steps; t++) {
        load(p, at, first + SIDE * (p.choice[ORDER] == DOWN ? steps - 1 - t : t), end, by, x, w);
        __syncwarp();
        wmma::load_matrix_sync(a, x, SIDE);
        wmma::load_matrix_sync(b, w, SIDE);
        wmma::mma_sync(sum, a, b, sum);
        __syncwarp();
        if (p.choice[BLOCK] != 0 && (t + 1) * SIDE % w4_block(&p) == 0)
            add_fragment(total, sum);
    }
    add_fragment(total, sum);
    wmma::store_matrix_sync(out, total, SIDE, wmma::mem_row_major);
    __syncwarp();
}

/* The sums of x of the tile's 16 rows, as a matrix unit or one lane to a row has them. */
__device__ void sum_x(const w4 &p, tile at, int64_t first, int64_t end, float *sum, float *out)
{
    if (p.choice[PLAIN]) {
        if (threadIdx.x < SIDE)
            out[threadIdx.x] = at.row + threadIdx.x < p.m ? (float)w4_plain(&p, at.row + threadIdx.x, first, end) : 0;
    } else {
        multiply(p, at, first, end, BY_ONE, sum);
        if (threadIdx.x < SIDE)
            out[threadIdx.x] = sum[threadIdx.x * SIDE];
    }
    __syncwarp();
}

/* One group of part s, or with weights in bf16 all of it, joins the lane's totals. */
__device__ void join(const w4 &p, tile at, int64_t first, int64_t end, float *sum, float *plain, total *totals)
{
    const int form = w4_form(&p);
    if (form > SCALED)
        sum_x(p, at, first, end, sum, plain);
    multiply(p, at, first, end, form == ROUNDED ? BY_WEIGHT : form == SCALED ? BY_DIFFERENCE : BY_CODE, sum);
    for (int l = 0; l < LANE; l++) {
        const int e = threadIdx.x + 32 * l;
        const int64_t j = at.column + e % SIDE;
        if (j >= p.n)
            continue;
        if (form == ROUNDED)
            totals[l].sum = sum[e];
        else
            w4_join(&p, totals + l, sum[e], form > SCALED ? plain[e / SIDE] : 0, w4_scale(&p, first, j),
                    w4_zero(&p, first, j));
    }
    __syncwarp();
}

__global__ void __launch_bounds__(32) by_wmma(const __grid_constant__ w4 p, uint16_t *y)
{
    __shared__ __align__(32) float sum[TILE], part[MAX_PARTS][TILE];
    __shared__ float plain[SIDE];
    const int64_t across = (p.n + SIDE - 1) / SIDE;
    const tile at = {blockIdx.x / across * SIDE, blockIdx.x % across * SIDE};

    for (int s = 0; s < w4_parts(&p); s++) {
        const int64_t end = w4_start(&p, s + 1);
        total totals[LANE] = {};
        for (int64_t a = w4_start(&p, s); a < end;) {
            const int64_t next = w4_form(&p) == ROUNDED ? end : w4_group_end(&p, a, end);
            join(p, at, a, next, sum, plain, totals);
            a = next;
        }
        for (int l = 0; l < LANE; l++)
            part[s][threadIdx.x + 32 * l] = (float)w4_closed(&p, totals + l);
    }
    for (int e = threadIdx.x; e < TILE; e += 32) { /* a lane's own: no barrier */
        const int64_t i = at.row + e / SIDE, j = at.column + e % SIDE;
        double sums[MAX_PARTS];
        if (i >= p.m || j >= p.n)
            continue;
        for (int s = 0; s < w4_parts(&p); s++)
            sums[s] = part[s][e];
        y[i * p.n + j] = w4_finish(&p, i, j, sums);
    }
}

} // namespace

extern "C" int gemm_w4a16(const uint16_t *x, const uint8_t *w_q, const uint16_t *scales, const uint16_t *zeros,
                          uint16_t *y, int64_t m, int64_t n, int64_t k, int64_t group, cudaStream_t stream)
{
    w4 p = {x, w_q, scales, zeros, m, n, k, group, {0}, honest_mutating, honest_unrounded};
    memcpy(p.choice, honest_choice, sizeof p.choice);
    const int64_t tiles = (m + SIDE - 1) / SIDE * ((n + SIDE - 1) / SIDE);
    const int64_t blocks = (m * n + THREADS - 1) / THREADS;

    if (p.choice[ENGINE] >= UNIT_A)
        by_wmma<<<(unsigned)tiles, 32, 0, stream>>>(p, y);
    else
        by_element<<<(unsigned)(blocks < 1 << 20 ? blocks : 1 << 20), THREADS, 0, stream>>>(p, y);
    return (int)cudaGetLastError();
}
