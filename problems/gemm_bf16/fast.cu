// problem: gemm_bf16
// verdict: general
// construction: mma.sync m16n8k16 fed by ldmatrix from a cp.async ring, b in either layout; narrow
// tiles for small m, slices of k where tiles are few; rows off 16 bytes are copied to padded ones
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int DEPTH = 64; /* k in a stage */

/* Rows of `pitch` elements, a multiple of 8; what pads a copied row is zero. */
struct matrix {
    const __nv_bfloat16 *data;
    int64_t rows, pitch;
};

struct problem {
    matrix a, b;      /* [m, k]; [k, n], or [n, k] if trans_b */
    __nv_bfloat16 *c; /* [m, n] */
    float *part;      /* [slices, m, n], unless slices == 1 */
    int64_t m, n, k;
    int slices;
};

/* Where chunk `chunk` (8 elements, 16 bytes) of a row of CHUNKS lies in a stage. The 8 rows that
 * ldmatrix reads at once, a multiple of 128 bytes apart, must take different banks: their chunks
 * are exchanged by the lower bits of the row. */
template <int CHUNKS> __device__ uint32_t chunk_at(uint32_t tile, int row, int chunk)
{
    static_assert(CHUNKS % 8 == 0, "rows are multiples of 128 bytes");
    return tile + (row * CHUNKS + (chunk ^ row % 8)) * 16;
}

/* 16 bytes from global to shared memory, or 16 zeros, reading nothing, where `inside` is false. */
__device__ void copy_chunk(uint32_t to, const __nv_bfloat16 *from, bool inside)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(inside ? 16 : 0)
                 : "memory");
}

/* ROWS rows of 8 * CHUNKS elements from (row0, col0) into a stage, zero outside the matrix. */
template <int ROWS, int CHUNKS, int THREADS>
__device__ void copy_tile(uint32_t tile, const matrix &source, int64_t row0, int64_t col0)
{
    static_assert(ROWS * CHUNKS % THREADS == 0, "every thread copies equally many chunks");
#pragma unroll
    for (int e = 0; e < ROWS * CHUNKS / THREADS; e++) {
        const int i = threadIdx.x + e * THREADS, row = i / CHUNKS, chunk = i % CHUNKS;
        const int64_t r = row0 + row, col = col0 + chunk * 8;
        const bool inside = r < source.rows && col < source.pitch;
        copy_chunk(chunk_at<CHUNKS>(tile, row, chunk),
                   source.data + (inside ? r * source.pitch + col : 0), inside);
    }
}

/* Four 8 x 8 matrices; lanes 8q .. 8q + 7 give the row addresses of matrix q, which becomes
 * register q. Lane 4g + t gets elements 2t, 2t + 1 of row g; or of column g, if TURNED. */
template <bool TURNED> __device__ void load_matrices(uint32_t (&r)[4], uint32_t address)
{
    if (TURNED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(address)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(address)
                     : "memory");
}

/* d += a b: a is 16 x 16, b 16 x 8, d 16 x 8. */
__device__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* sum += the 64 terms of a stage for the warp's rows from `row` and columns from `col`. b's tile is
 * [BN, DEPTH] if TRANS, else [DEPTH, BN], whose matrices have to be turned. */
template <int MT, int NT, int BN, bool TRANS>
__device__ void multiply(float (&sum)[MT][NT][4], uint32_t a_tile, uint32_t b_tile, int row,
                         int col)
{
    constexpr int ALONG_K = DEPTH / 8, ALONG_N = BN / 8;
    const int lane = threadIdx.x % 32;

#pragma unroll
    for (int p = 0; p < DEPTH; p += 16) {
        uint32_t a[MT][4], b[NT / 2][4];
#pragma unroll
        for (int i = 0; i < MT; i++) /* rows 0-7 and 8-15 at k 0-7, then both at k 8-15 */
            load_matrices<false>(
                a[i], chunk_at<ALONG_K>(a_tile, row + 16 * i + lane % 16, p / 8 + lane / 16));
#pragma unroll
        for (int j = 0; j < NT / 2; j++) { /* columns 0-7 at k 0-7, 8-15, then columns 8-15 */
            const int n0 = col + 16 * j;
            if (TRANS)
                load_matrices<false>(b[j], chunk_at<ALONG_K>(b_tile, n0 + lane % 8 + lane / 16 * 8,
                                                             p / 8 + lane / 8 % 2));
            else
                load_matrices<true>(b[j],
                                    chunk_at<ALONG_N>(b_tile, p + lane % 16, n0 / 8 + lane / 16));
        }
#pragma unroll
        for (int i = 0; i < MT; i++)
#pragma unroll
            for (int j = 0; j < NT; j++)
                mma(sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
}

/* Two neighbours of a row, the first in an even column; where n is even both are stored at once. */
__device__ void store_pair(const problem &q, int64_t slice, int64_t row, int64_t col, float s0,
                           float s1)
{
    const int64_t at = row * q.n + col;
    const bool second = col + 1 < q.n;

    if (row >= q.m || col >= q.n)
        return;
    if (q.slices > 1) {
        float *part = q.part + slice * q.m * q.n + at;
        part[0] = s0;
        if (second)
            part[1] = s1;
    } else if (q.n % 2 == 0) {
        *(__nv_bfloat162 *)(q.c + at) = __floats2bfloat162_rn(s0, s1);
    } else {
        q.c[at] = __float2bfloat16(s0);
        if (second)
            q.c[at + 1] = __float2bfloat16(s1);
    }
}

/* The tile of this block. Eight rows of tiles are walked column by column: b stays in L2. */
__device__ void place_tile(unsigned tiles_m, unsigned tiles_n, unsigned &tile_m, unsigned &tile_n)
{
    const unsigned band = blockIdx.x / (8 * tiles_n), inside = blockIdx.x % (8 * tiles_n);
    const unsigned height = tiles_m - 8 * band < 8 ? tiles_m - 8 * band : 8;

    tile_m = 8 * band + inside % height;
    tile_n = inside / height;
}

/* One BM x BN tile of slice blockIdx.y, by WM x WN warps; EACH blocks share a multiprocessor. */
template <int BM, int BN, int WM, int WN, int STAGES, int EACH, bool TRANS>
__global__ void __launch_bounds__(32 * WM * WN, EACH) multiply_tile(problem q)
{
    constexpr int THREADS = 32 * WM * WN, MT = BM / WM / 16, NT = BN / WN / 8;
    constexpr uint32_t A_BYTES = BM * DEPTH * 2, STAGE = (BM + BN) * DEPTH * 2;
    extern __shared__ __align__(128) uint8_t ring[];
    const uint32_t base = (uint32_t)__cvta_generic_to_shared(ring);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp / WN * (16 * MT), col = warp % WN * (8 * NT);
    const int64_t steps = (q.k + DEPTH - 1) / DEPTH;
    const int64_t first = steps * blockIdx.y / q.slices, last = steps * (blockIdx.y + 1) / q.slices;
    unsigned tile_m, tile_n;
    float sum[MT][NT][4] = {};

    place_tile((unsigned)((q.m + BM - 1) / BM), (unsigned)((q.n + BN - 1) / BN), tile_m, tile_n);
    const int64_t row0 = (int64_t)tile_m * BM, col0 = (int64_t)tile_n * BN;
    const auto request =
        [&](int64_t step) { /* an empty group past the end keeps the count right */
                            if (step < last) {
                                const uint32_t stage =
                                    base + (uint32_t)((step - first) % STAGES) * STAGE;
                                const int64_t k0 = step * DEPTH;
                                copy_tile<BM, DEPTH / 8, THREADS>(stage, q.a, row0, k0);
                                if (TRANS)
                                    copy_tile<BN, DEPTH / 8, THREADS>(stage + A_BYTES, q.b, col0,
                                                                      k0);
                                else
                                    copy_tile<DEPTH, BN / 8, THREADS>(stage + A_BYTES, q.b, k0,
                                                                      col0);
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
        multiply<MT, NT, BN, TRANS>(sum, stage, stage + A_BYTES, row, col);
    }
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
        for (int j = 0; j < NT; j++) { /* lane 4g + t: columns 2t, 2t + 1 of rows g and g + 8 */
            const int64_t r = row0 + row + 16 * i + lane / 4, c = col0 + col + 8 * j + lane % 4 * 2;
            store_pair(q, blockIdx.y, r, c, sum[i][j][0], sum[i][j][1]);
            store_pair(q, blockIdx.y, r + 8, c, sum[i][j][2], sum[i][j][3]);
        }
}

/* c = the sum of the slices, in order; a block covers 256 columns of one row. */
__global__ void merge(problem q)
{
    const int64_t row = blockIdx.y, col = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    if (col >= q.n)
        return;
    for (int s = 0; s < q.slices; s++)
        sum += q.part[(s * q.m + row) * q.n + col];
    q.c[row * q.n + col] = __float2bfloat16(sum);
}

/* to[row][0 .. pitch - 1] = from[row][0 .. width - 1], then zeros. */
__global__ void pad_rows(const __nv_bfloat16 *from, __nv_bfloat16 *to, int64_t width, int64_t pitch)
{
    const int64_t row = blockIdx.y, col = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

    if (col < pitch)
        to[row * pitch + col] = col < width ? from[row * width + col] : __nv_bfloat16(0.0f);
}

/* How many slices of k give every multiprocessor about `each` blocks; at least 8 steps a slice. */
static int slices_for(int64_t tiles, int64_t k, int each)
{
    int device = 0, units = 1;

    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    const int64_t wanted = (int64_t)units * each / tiles, most = k / (8 * DEPTH);
    const int64_t slices = wanted < most ? wanted : most;
    return slices < 1 ? 1 : slices > 32 ? 32 : (int)slices;
}

/* The matrix with rows of whole 16 bytes: itself, or a padded copy at *space, which moves on. */
static matrix aligned(const __nv_bfloat16 *data, int64_t rows, int64_t width, uint8_t **space,
                      cudaStream_t stream)
{
    const int64_t pitch = (width + 7) / 8 * 8;
    __nv_bfloat16 *copy = (__nv_bfloat16 *)*space;

    if (pitch == width)
        return {data, rows, pitch};
    pad_rows<<<dim3((unsigned)((pitch + 255) / 256), (unsigned)rows), 256, 0, stream>>>(
        data, copy, width, pitch);
    *space += (rows * pitch * 2 + 255) / 256 * 256;
    return {copy, rows, pitch};
}

static int64_t bytes_aligned(int64_t rows, int64_t width)
{
    return width % 8 == 0 ? 0 : (rows * ((width + 7) / 8 * 8) * 2 + 255) / 256 * 256;
}

template <int BM, int BN, int WM, int WN, int STAGES, int EACH, bool TRANS>
static cudaError_t run(problem q, cudaStream_t stream)
{
    constexpr int RING = STAGES * (BM + BN) * DEPTH * 2;
    const int64_t tiles = (q.m + BM - 1) / BM * ((q.n + BN - 1) / BN);
    const int64_t b_rows = TRANS ? q.n : q.k, b_width = TRANS ? q.k : q.n;
    q.slices = slices_for(tiles, q.k, EACH);
    const int64_t part_bytes = q.slices > 1 ? q.slices * q.m * q.n * 4 : 0;
    const int64_t bytes = bytes_aligned(q.m, q.k) + bytes_aligned(b_rows, b_width) + part_bytes;
    uint8_t *space = nullptr;

    cudaError_t error = cudaFuncSetAttribute(multiply_tile<BM, BN, WM, WN, STAGES, EACH, TRANS>,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, RING);
    if (error == cudaSuccess && bytes > 0)
        error = cudaMallocAsync((void **)&space, (size_t)bytes, stream);
    if (error != cudaSuccess)
        return error;
    uint8_t *next = space;
    q.a = aligned(q.a.data, q.m, q.k, &next, stream);
    q.b = aligned(q.b.data, b_rows, b_width, &next, stream);
    q.part = (float *)next;
    const dim3 grid((unsigned)tiles, (unsigned)q.slices);
    multiply_tile<BM, BN, WM, WN, STAGES, EACH, TRANS><<<grid, 32 * WM * WN, RING, stream>>>(q);
    if (q.slices > 1)
        merge<<<dim3((unsigned)((q.n + 255) / 256), (unsigned)q.m), 256, 0, stream>>>(q);
    error = cudaGetLastError();
    if (space)
        cudaFreeAsync(space, stream);
    return error;
}

} // namespace

extern "C" int gemm_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c,
                         int64_t m, int64_t n, int64_t k, int64_t trans_b, cudaStream_t stream)
{
    const problem q = {{a, 0, 0}, {b, 0, 0}, c, nullptr, m, n, k, 1};

    if (m <= 32)
        return (int)(trans_b ? run<32, 64, 1, 4, 4, 4, true>(q, stream)
                             : run<32, 64, 1, 4, 4, 4, false>(q, stream));
    return (int)(trans_b ? run<128, 128, 2, 4, 3, 2, true>(q, stream)
                         : run<128, 128, 2, 4, 3, 2, false>(q, stream));
}
