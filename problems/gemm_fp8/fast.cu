// problem: gemm_fp8
// verdict: general
// construction: fp8 mma.sync m16n8k32 fed by ldmatrix from a four-stage cp.async ring; narrow tiles
// for small batches, slices of k where tiles are few; rows off 16 bytes are copied to padded ones
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>

namespace {

constexpr int DEPTH = 64, STAGES = 4; /* bytes of k in a stage, stages in flight */

struct problem {
    const uint8_t *x, *weight; /* [m, pitch], [n, pitch]: pitch % 16 == 0, zero from k on */
    const float *scale;        /* [n] */
    __nv_bfloat16 *y;          /* [m, n] */
    float *part;               /* [slices, m, n], unless slices == 1 */
    int64_t m, n, pitch;
    int slices;
};

/* Stage rows are 64 bytes, four chunks of 16. Rows 2i and 2i + 1 share the 32 banks, so chunk c is
 * kept at c ^ (row / 2 % 4): the 8 rows that ldmatrix reads at once then take different banks. */
__device__ uint32_t chunk_at(uint32_t tile, int row, int chunk)
{
    return tile + row * DEPTH + ((chunk ^ (row >> 1 & 3)) << 4);
}

/* 16 bytes from global to shared memory, or 16 zeros, reading nothing, where `inside` is false. */
__device__ void copy_chunk(uint32_t to, const uint8_t *from, bool inside)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(inside ? 16 : 0)
                 : "memory");
}

/* source[row0 .. row0 + ROWS - 1][k0 .. k0 + 63] into a stage, zero outside [rows, pitch]. */
template <int ROWS, int THREADS>
__device__ void copy_tile(uint32_t tile, const uint8_t *source, int64_t row0, int64_t rows,
                          int64_t k0, int64_t pitch)
{
    static_assert(ROWS * 4 % THREADS == 0, "every thread copies equally many chunks");
#pragma unroll
    for (int e = 0; e < ROWS * 4 / THREADS; e++) {
        const int i = threadIdx.x + e * THREADS, row = i / 4, chunk = i % 4;
        const bool inside = row0 + row < rows && k0 + chunk * 16 < pitch;
        const uint8_t *from = source + (inside ? (row0 + row) * pitch + k0 + chunk * 16 : 0);
        copy_chunk(chunk_at(tile, row, chunk), from, inside);
    }
}

__device__ void load_matrices(uint32_t (&r)[4], uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

/* d += a b: a is 16 x 32, b 32 x 8, d 16 x 8. */
__device__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* sum += the 64 terms of a stage for the warp's rows from `row` and columns from `col`. A matrix of
 * ldmatrix is 8 rows of 16 bytes, lane 4g + t getting bytes 4t .. 4t + 3 of row g: as fp8 mma wants
 * it. Lanes 8q .. 8q + 7 give the row addresses of matrix q, which becomes register q. */
template <int MT, int NT>
__device__ void multiply(float (&sum)[MT][NT][4], uint32_t a_tile, uint32_t b_tile, int row,
                         int col)
{
    const int lane = threadIdx.x % 32;

#pragma unroll
    for (int half = 0; half < 2; half++) {
        uint32_t a[MT][4], b[NT / 2][4];
#pragma unroll
        for (int i = 0; i < MT; i++) /* rows 0-7 and 8-15 at bytes 0-15, then both at 16-31 */
            load_matrices(a[i], chunk_at(a_tile, row + 16 * i + lane % 16, 2 * half + lane / 16));
#pragma unroll
        for (int j = 0; j < NT / 2; j++) /* columns 0-7 at bytes 0-15, 16-31, then columns 8-15 */
            load_matrices(b[j], chunk_at(b_tile, col + 16 * j + lane % 8 + lane / 16 * 8,
                                         2 * half + lane / 8 % 2));
#pragma unroll
        for (int i = 0; i < MT; i++)
#pragma unroll
            for (int j = 0; j < NT; j++)
                mma(sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
}

/* Two neighbours of a row, the first in an even column; where n is even both are stored at once. */
__device__ void store_pair(const problem &p, int64_t slice, int64_t row, int64_t col, float s0,
                           float s1)
{
    const int64_t at = row * p.n + col;
    const bool second = col + 1 < p.n;

    if (row >= p.m || col >= p.n)
        return;
    if (p.slices > 1) {
        float *part = p.part + slice * p.m * p.n + at;
        part[0] = s0;
        if (second)
            part[1] = s1;
        return;
    }
    const __nv_bfloat16 y0 = __float2bfloat16(s0 * p.scale[col]);
    const __nv_bfloat16 y1 = __float2bfloat16(second ? s1 * p.scale[col + 1] : 0.0f);
    if (p.n % 2 == 0) {
        *(__nv_bfloat162 *)(p.y + at) = __halves2bfloat162(y0, y1);
        return;
    }
    p.y[at] = y0;
    if (second)
        p.y[at + 1] = y1;
}

/* The tile of this block. Eight rows of tiles are walked column by column: weight stays in L2. */
__device__ void place_tile(unsigned tiles_m, unsigned tiles_n, unsigned &tile_m, unsigned &tile_n)
{
    const unsigned band = blockIdx.x / (8 * tiles_n), inside = blockIdx.x % (8 * tiles_n);
    const unsigned height = tiles_m - 8 * band < 8 ? tiles_m - 8 * band : 8;

    tile_m = 8 * band + inside % height;
    tile_n = inside / height;
}

/* One BM x BN tile of slice blockIdx.y, by WM x WN warps; EACH blocks share a multiprocessor. */
template <int BM, int BN, int WM, int WN, int EACH>
__global__ void __launch_bounds__(32 * WM * WN, EACH) multiply_tile(problem p)
{
    constexpr int THREADS = 32 * WM * WN, MT = BM / WM / 16, NT = BN / WN / 8;
    constexpr uint32_t A_BYTES = BM * DEPTH, STAGE = (BM + BN) * DEPTH;
    extern __shared__ __align__(128) uint8_t ring[];
    const uint32_t base = (uint32_t)__cvta_generic_to_shared(ring);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp / WN * (16 * MT), col = warp % WN * (8 * NT);
    const int64_t steps = (p.pitch + DEPTH - 1) / DEPTH;
    const int64_t first = steps * blockIdx.y / p.slices, last = steps * (blockIdx.y + 1) / p.slices;
    unsigned tile_m, tile_n;
    float sum[MT][NT][4] = {};

    place_tile((unsigned)((p.m + BM - 1) / BM), (unsigned)((p.n + BN - 1) / BN), tile_m, tile_n);
    const int64_t row0 = (int64_t)tile_m * BM, col0 = (int64_t)tile_n * BN;
    const auto request = [&](int64_t step) { /* an empty group past the end keeps the count right */
        if (step < last) {
            const uint32_t stage = base + (uint32_t)((step - first) % STAGES) * STAGE;
            copy_tile<BM, THREADS>(stage, p.x, row0, p.m, step * DEPTH, p.pitch);
            copy_tile<BN, THREADS>(stage + A_BYTES, p.weight, col0, p.n, step * DEPTH, p.pitch);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    for (int s = 0; s < STAGES - 1; s++)
        request(first + s);
    for (int64_t step = first; step < last; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads(); /* the step has arrived; all warps are done with the step before it, */
        request(step + STAGES - 1); /* whose stage this overwrites */
        const uint32_t stage = base + (uint32_t)((step - first) % STAGES) * STAGE;
        multiply<MT, NT>(sum, stage, stage + A_BYTES, row, col);
    }
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
        for (int j = 0; j < NT; j++) { /* lane 4g + t: columns 2t, 2t + 1 of rows g and g + 8 */
            const int64_t r = row0 + row + 16 * i + lane / 4, c = col0 + col + 8 * j + lane % 4 * 2;
            store_pair(p, blockIdx.y, r, c, sum[i][j][0], sum[i][j][1]);
            store_pair(p, blockIdx.y, r + 8, c, sum[i][j][2], sum[i][j][3]);
        }
}

/* y = scale * sum over slices, in order; a block covers 256 columns of one row. */
__global__ void merge(problem p)
{
    const int64_t row = blockIdx.y, col = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    if (col >= p.n)
        return;
    for (int s = 0; s < p.slices; s++)
        sum += p.part[(s * p.m + row) * p.n + col];
    p.y[row * p.n + col] = __float2bfloat16(sum * p.scale[col]);
}

/* to[row][0 .. pitch - 1] = from[row][0 .. k - 1], then zeros; four bytes a thread. */
__global__ void pad_rows(const uint8_t *from, uint8_t *to, int64_t k, int64_t pitch)
{
    const int64_t row = blockIdx.y, p = 4 * ((int64_t)blockIdx.x * blockDim.x + threadIdx.x);
    uint32_t word = 0;

    if (p >= pitch)
        return;
    for (int b = 0; b < 4; b++)
        if (p + b < k)
            word |= (uint32_t)from[row * k + p + b] << (8 * b);
    *(uint32_t *)(to + row * pitch + p) = word;
}

/* How many slices of k give every multiprocessor about `each` blocks; at least 8 steps a slice. */
static int slices_for(int64_t tiles, int64_t pitch, int each)
{
    int device = 0, units = 1;

    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    const int64_t wanted = (int64_t)units * each / tiles, most = pitch / (8 * DEPTH);
    const int64_t slices = wanted < most ? wanted : most;
    return slices < 1 ? 1 : slices > 32 ? 32 : (int)slices;
}

template <int BM, int BN, int WM, int WN, int EACH>
static cudaError_t run(problem p, bool padded, int64_t k, cudaStream_t stream)
{
    constexpr int RING = STAGES * (BM + BN) * DEPTH;
    const int64_t tiles = (p.m + BM - 1) / BM * ((p.n + BN - 1) / BN);
    p.slices = slices_for(tiles, p.pitch, EACH);
    const int64_t x_bytes = padded ? (p.m * p.pitch + 255) / 256 * 256 : 0;
    const int64_t w_bytes = padded ? (p.n * p.pitch + 255) / 256 * 256 : 0;
    const int64_t part_bytes = p.slices > 1 ? p.slices * p.m * p.n * 4 : 0;
    uint8_t *space = nullptr;

    cudaError_t error = cudaFuncSetAttribute(multiply_tile<BM, BN, WM, WN, EACH>,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, RING);
    if (error == cudaSuccess && x_bytes + w_bytes + part_bytes > 0)
        error = cudaMallocAsync((void **)&space, x_bytes + w_bytes + part_bytes, stream);
    if (error != cudaSuccess)
        return error;
    p.part = (float *)(space + x_bytes + w_bytes);
    if (padded) {
        const unsigned wide = (unsigned)((p.pitch / 4 + 255) / 256);
        pad_rows<<<dim3(wide, (unsigned)p.m), 256, 0, stream>>>(p.x, space, k, p.pitch);
        pad_rows<<<dim3(wide, (unsigned)p.n), 256, 0, stream>>>(p.weight, space + x_bytes, k,
                                                               p.pitch);
        p.x = space;
        p.weight = space + x_bytes;
    }
    const dim3 grid((unsigned)tiles, (unsigned)p.slices);
    multiply_tile<BM, BN, WM, WN, EACH><<<grid, 32 * WM * WN, RING, stream>>>(p);
    if (p.slices > 1)
        merge<<<dim3((unsigned)((p.n + 255) / 256), (unsigned)p.m), 256, 0, stream>>>(p);
    error = cudaGetLastError();
    if (space)
        cudaFreeAsync(space, stream);
    return error;
}

} // namespace

extern "C" int gemm_fp8(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale,
                        __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k, cudaStream_t stream)
{
    const int64_t pitch = (k + 15) / 16 * 16;
    const problem p = {
        (const uint8_t *)x, (const uint8_t *)weight, scale, y, nullptr, m, n, pitch, 1};

    if (m <= 32)
        return (int)run<32, 64, 1, 4, 6>(p, pitch != k, k, stream);
    return (int)run<128, 128, 2, 4, 2>(p, pitch != k, k, stream);
}
