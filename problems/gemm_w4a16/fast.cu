// problem: gemm_w4a16
// verdict: general
// construction: bf16 mma.sync m16n8k16; w_q by a cp.async ring, dequantized into B fragments; 16 to
// 128 rows a tile, slices of k where tiles are few; rows off 16 bytes are padded first
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int DEPTH = 64, STAGES = 4; /* rows of w in a stage, stages in flight */
constexpr int BN = 128, W_ROW = BN + 32; /* 4 rows of w_q then fall into different banks */
constexpr int W_BYTES = DEPTH / 2 * W_ROW, S_BYTES = 2 * BN * 2; /* scales, zeros of half a stage */

struct problem {
    const __nv_bfloat16 *x;              /* [m, x_pitch]: x_pitch % 8 == 0, zero from k on */
    const uint8_t *w_q;                  /* [k / 2, pitch]: pitch % 16 == 0 */
    const __nv_bfloat16 *scales, *zeros; /* [groups, pitch] */
    __nv_bfloat16 *y;                    /* [m, n] */
    float *part;                         /* [slices, m, pitch], unless slices == 1 */
    int64_t m, n, k, x_pitch, pitch;
    unsigned group;
    int slices;
};

/* 16 bytes from global to shared memory, or 16 zeros, reading nothing, where `inside` is false. */
__device__ void copy_chunk(uint32_t to, const void *from, bool inside)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(inside ? 16 : 0)
                 : "memory");
}

/* A row of x in a stage is 128 bytes, 8 chunks of 16. Chunk c is kept at c ^ (row % 8), so that the
 * same chunk of 8 neighbouring rows, which ldmatrix reads at once, covers all 32 banks. */
__device__ uint32_t chunk_at(int row, int chunk)
{
    return row * (DEPTH * 2) + ((chunk ^ (row & 7)) << 4);
}

/* Stage: BM rows of x, then 32 rows of w_q, then scales and zeros for either half of the 64 rows
 * of w. A group is a multiple of 32 rows: a half never straddles two. Zero outside the tensors. */
template <int BM, int THREADS>
__device__ void copy_stage(const problem &p, uint32_t stage, int64_t row0, int64_t col0, int64_t k0)
{
#pragma unroll
    for (int i = threadIdx.x; i < BM * 8; i += THREADS) {
        const int row = i / 8, chunk = i % 8;
        const bool inside = row0 + row < p.m && k0 + chunk * 8 < p.x_pitch;
        const int64_t at = inside ? (row0 + row) * p.x_pitch + k0 + chunk * 8 : 0;
        copy_chunk(stage + chunk_at(row, chunk), p.x + at, inside);
    }
    stage += BM * DEPTH * 2;
#pragma unroll
    for (int i = threadIdx.x; i < DEPTH / 2 * (BN / 16); i += THREADS) {
        const int row = i / (BN / 16), chunk = i % (BN / 16);
        const bool inside = k0 + 2 * row < p.k && col0 + chunk * 16 < p.pitch;
        const int64_t at = inside ? (k0 / 2 + row) * p.pitch + col0 + chunk * 16 : 0;
        copy_chunk(stage + row * W_ROW + chunk * 16, p.w_q + at, inside);
    }
    stage += W_BYTES;
    if (threadIdx.x < 4 * (BN / 8)) { /* [half][scales, zeros][BN] */
        const int chunk = threadIdx.x % (BN / 8), half = threadIdx.x / (2 * (BN / 8));
        const __nv_bfloat16 *from = threadIdx.x / (BN / 8) % 2 ? p.zeros : p.scales;
        const bool inside = k0 + half * 32 < p.k && col0 + chunk * 8 < p.pitch;
        const unsigned group = ((unsigned)k0 + half * 32) / p.group;
        copy_chunk(stage + threadIdx.x * 16,
                   from + (inside ? group * p.pitch + col0 + chunk * 8 : 0), inside);
    }
}

__device__ void load_matrices(uint32_t (&r)[4], uint32_t address)
{
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

__device__ __nv_bfloat162 as_pair(uint32_t bits)
{
    return *(const __nv_bfloat162 *)&bits;
}

/* Scale, and 128 + zero, of four columns; each doubled, for the two rows that a byte holds. */
struct columns {
    __nv_bfloat162 scale[4], zero[4];
};

__device__ columns read_columns(const uint8_t *at)
{
    const uint2 s = *(const uint2 *)at, z = *(const uint2 *)(at + BN * 2);
    const __nv_bfloat162 offset = __float2bfloat162_rn(128.0f);
    columns c;

    c.scale[0] = __low2bfloat162(as_pair(s.x));
    c.scale[1] = __high2bfloat162(as_pair(s.x));
    c.scale[2] = __low2bfloat162(as_pair(s.y));
    c.scale[3] = __high2bfloat162(as_pair(s.y));
    c.zero[0] = __hadd2(__low2bfloat162(as_pair(z.x)), offset);
    c.zero[1] = __hadd2(__high2bfloat162(as_pair(z.x)), offset);
    c.zero[2] = __hadd2(__low2bfloat162(as_pair(z.y)), offset);
    c.zero[3] = __hadd2(__high2bfloat162(as_pair(z.y)), offset);
    return c;
}

/* Rows 2r and 2r + 1 of w in four columns. 0x4300 is 128 in bf16 with an ulp of 1, so 0x4300 | q is
 * 128 + q; the difference from 128 + zero is exact, the product is the one permitted rounding. */
__device__ void dequantize(uint32_t bytes, const columns &c, uint32_t (&w)[4])
{
#pragma unroll
    for (int j = 0; j < 4; j++) { /* byte j, and the same shifted down, into the two halves */
        const uint32_t both = __byte_perm(bytes, bytes >> 4, j | (4 + j) << 8);
        const uint32_t code = (both & 0x000f000fu) | 0x43004300u;
        const __nv_bfloat162 value = __hmul2(__hsub2(as_pair(code), c.zero[j]), c.scale[j]);
        w[j] = *(const uint32_t *)&value;
    }
}

/* sum += the 64 terms of a stage for the warp's 16 MT rows from `row` and 32 columns from `col`.
 * Column c of the B fragment j is column 4c + j of the warp. So lane 4g + t finds rows 2t, 2t + 1
 * of its four fragments in one word: bytes 4g .. 4g + 3 of row t of w_q (t + 4: the second
 * register). ldmatrix: lanes 8q .. 8q + 7 give the rows of matrix q, which becomes register q of
 * A. */
template <int MT>
__device__ void multiply(float (&sum)[MT][4][4], const uint8_t *x, const uint8_t *w_q, int row,
                         int col)
{
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const uint32_t x_tile = (uint32_t)__cvta_generic_to_shared(x);
    const uint8_t *bytes = w_q + t * W_ROW + col + 4 * g;

#pragma unroll
    for (int half = 0; half < 2; half++) {
        const columns c = read_columns(w_q + W_BYTES + half * S_BYTES + (col + 4 * g) * 2);
#pragma unroll
        for (int step = 2 * half; step < 2 * half + 2; step++) { /* 16 rows of w, 8 of w_q */
            uint32_t a[MT][4], b0[4], b1[4];
            dequantize(*(const uint32_t *)(bytes + 8 * step * W_ROW), c, b0);
            dequantize(*(const uint32_t *)(bytes + (8 * step + 4) * W_ROW), c, b1);
#pragma unroll
            for (int i = 0; i < MT; i++)
                load_matrices(a[i], x_tile + chunk_at(row + 16 * i + lane % 16,
                                                      2 * step + lane / 16));
#pragma unroll
            for (int i = 0; i < MT; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    mma(sum[i][j], a[i], b0[j], b1[j]);
        }
    }
}

/* Eight neighbours of a row, from a column that is a multiple of 8. */
__device__ void store(const problem &p, int64_t slice, int64_t row, int64_t col,
                      const float (&s)[8])
{
    __align__(16) __nv_bfloat16 y[8];

    if (row >= p.m || col >= p.n)
        return;
    if (p.slices > 1) { /* pitch is a multiple of 16: the eight are inside it */
        float4 *part = (float4 *)(p.part + (slice * p.m + row) * p.pitch + col);
        part[0] = make_float4(s[0], s[1], s[2], s[3]);
        part[1] = make_float4(s[4], s[5], s[6], s[7]);
        return;
    }
#pragma unroll
    for (int j = 0; j < 8; j++)
        y[j] = __float2bfloat16(s[j]);
    if (p.n % 8 == 0) {
        *(uint4 *)(p.y + row * p.n + col) = *(const uint4 *)y;
        return;
    }
#pragma unroll
    for (int j = 0; j < 8; j++)
        if (col + j < p.n)
            p.y[row * p.n + col + j] = y[j];
}

/* The tile of this block: bands of 8 tiles of rows, walked column by column; w_q stays in L2. */
__device__ void place_tile(const problem &p, int bm, int64_t &row0, int64_t &col0)
{
    const unsigned tiles_m = (unsigned)((p.m + bm - 1) / bm);
    const unsigned tiles_n = (unsigned)((p.n + BN - 1) / BN);
    const unsigned band = blockIdx.x / (8 * tiles_n), inside = blockIdx.x % (8 * tiles_n);
    const unsigned height = tiles_m - 8 * band < 8 ? tiles_m - 8 * band : 8;

    row0 = (int64_t)(8 * band + inside % height) * bm;
    col0 = (int64_t)(inside / height) * BN;
}

/* One tile of 16 MT WM rows and 128 columns, of slice blockIdx.y; WM x 4 warps. */
template <int MT, int WM, int EACH>
__global__ void __launch_bounds__(128 * WM, EACH) multiply_tile(problem p)
{
    constexpr int THREADS = 128 * WM, BM = 16 * MT * WM, X_BYTES = BM * DEPTH * 2;
    constexpr uint32_t STAGE = X_BYTES + W_BYTES + 2 * S_BYTES;
    extern __shared__ __align__(128) uint8_t ring[];
    const uint32_t base = (uint32_t)__cvta_generic_to_shared(ring);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp / 4 * (16 * MT), col = warp % 4 * 32;
    const int64_t steps = (p.k + DEPTH - 1) / DEPTH;
    const int64_t first = steps * blockIdx.y / p.slices, last = steps * (blockIdx.y + 1) / p.slices;
    int64_t row0, col0;
    float sum[MT][4][4] = {};

    place_tile(p, BM, row0, col0);
    const auto request = [&](int64_t step) { /* an empty group past the end keeps the count right */
        if (step < last)
            copy_stage<BM, THREADS>(p, base + (uint32_t)((step - first) % STAGES) * STAGE, row0,
                                    col0, step * DEPTH);
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    for (int s = 0; s < STAGES - 1; s++)
        request(first + s);
    for (int64_t step = first; step < last; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads(); /* the step has arrived; all warps are done with the step before it, */
        request(step + STAGES - 1); /* whose stage this overwrites */
        const uint8_t *stage = ring + (step - first) % STAGES * STAGE;
        multiply<MT>(sum, stage, stage + X_BYTES, row, col);
    }
#pragma unroll
    for (int i = 0; i < MT; i++) /* lane 4g + t: columns 2t, 2t + 1, rows g, g + 8 of fragment j, */
#pragma unroll
        for (int h = 0; h < 2; h++) { /* which are columns 8t + j, 8t + 4 + j of the warp */
            const float s[8] = {sum[i][0][2 * h],     sum[i][1][2 * h],     sum[i][2][2 * h],
                                sum[i][3][2 * h],     sum[i][0][2 * h + 1], sum[i][1][2 * h + 1],
                                sum[i][2][2 * h + 1], sum[i][3][2 * h + 1]};
            store(p, blockIdx.y, row0 + row + 16 * i + 8 * h + lane / 4,
                  col0 + col + 8 * (lane % 4), s);
        }
}

/* y = the sum over slices, in order; a block covers 256 columns of one row. */
__global__ void merge(problem p)
{
    const int64_t row = blockIdx.y, col = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    if (col >= p.n)
        return;
    for (int s = 0; s < p.slices; s++)
        sum += p.part[(s * p.m + row) * p.pitch + col];
    p.y[row * p.n + col] = __float2bfloat16(sum);
}

/* to[row][0 .. pitch - 1] = from[row][0 .. length - 1], then zeros; bytes, four a thread. */
__global__ void pad_rows(const uint8_t *from, uint8_t *to, int64_t length, int64_t pitch)
{
    const int64_t row = blockIdx.y, b = 4 * ((int64_t)blockIdx.x * blockDim.x + threadIdx.x);
    uint32_t word = 0;

    if (b >= pitch)
        return;
    for (int i = 0; i < 4; i++)
        if (b + i < length)
            word |= (uint32_t)from[row * length + b + i] << (8 * i);
    *(uint32_t *)(to + row * pitch + b) = word;
}

/* The padded copy of [rows, length] bytes at *space, which moves past it. */
static void *pad(const void *from, int64_t rows, int64_t length, int64_t pitch, uint8_t **space,
                 cudaStream_t stream)
{
    uint8_t *to = *space;
    const dim3 grid((unsigned)((pitch / 4 + 255) / 256), (unsigned)rows);

    pad_rows<<<grid, 256, 0, stream>>>((const uint8_t *)from, to, length, pitch);
    *space += (rows * pitch + 255) / 256 * 256;
    return to;
}

/* How many slices of k give every multiprocessor about `each` blocks; at least 4 steps a slice. */
static int slices_for(int64_t tiles, int64_t k, int each)
{
    int device = 0, units = 1;

    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    const int64_t wanted = (int64_t)units * each / tiles, most = k / (4 * DEPTH);
    const int64_t slices = wanted < most ? wanted : most;
    return slices < 1 ? 1 : slices > 32 ? 32 : (int)slices;
}

template <int MT, int WM, int EACH>
static cudaError_t run(problem p, cudaStream_t stream)
{
    constexpr int BM = 16 * MT * WM, RING = STAGES * (BM * DEPTH * 2 + W_BYTES + 2 * S_BYTES);
    const int64_t tiles = (p.m + BM - 1) / BM * ((p.n + BN - 1) / BN);
    const int64_t groups = (p.k + p.group - 1) / p.group;
    const bool pad_x = p.x_pitch != p.k, pad_w = p.pitch != p.n;
    p.slices = slices_for(tiles, p.k, EACH);
    const int64_t part_bytes = p.slices > 1 ? p.slices * p.m * p.pitch * 4 : 0;
    const int64_t x_bytes = pad_x ? p.m * p.x_pitch * 2 : 0;
    const int64_t w_bytes = pad_w ? (p.k / 2 + 4 * groups) * p.pitch : 0;
    const int64_t bytes = (part_bytes + 255) / 256 * 256 + x_bytes + w_bytes + 4 * 256;
    uint8_t *space = nullptr;

    cudaError_t error = cudaFuncSetAttribute(multiply_tile<MT, WM, EACH>,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, RING);
    if (error == cudaSuccess && part_bytes + x_bytes + w_bytes > 0)
        error = cudaMallocAsync((void **)&space, bytes, stream);
    if (error != cudaSuccess)
        return error;
    p.part = (float *)space;
    uint8_t *next = space + (part_bytes + 255) / 256 * 256;
    if (pad_x)
        p.x = (const __nv_bfloat16 *)pad(p.x, p.m, p.k * 2, p.x_pitch * 2, &next, stream);
    if (pad_w) {
        p.w_q = (const uint8_t *)pad(p.w_q, p.k / 2, p.n, p.pitch, &next, stream);
        const int64_t length = p.n * 2, pitch = p.pitch * 2;
        p.scales = (const __nv_bfloat16 *)pad(p.scales, groups, length, pitch, &next, stream);
        p.zeros = (const __nv_bfloat16 *)pad(p.zeros, groups, length, pitch, &next, stream);
    }
    const dim3 grid((unsigned)tiles, (unsigned)p.slices);
    multiply_tile<MT, WM, EACH><<<grid, 128 * WM, RING, stream>>>(p);
    if (p.slices > 1)
        merge<<<dim3((unsigned)((p.n + 255) / 256), (unsigned)p.m), 256, 0, stream>>>(p);
    error = cudaGetLastError();
    if (space)
        cudaFreeAsync(space, stream);
    return error;
}

} // namespace

extern "C" int gemm_w4a16(const __nv_bfloat16 *x, const uint8_t *w_q, const __nv_bfloat16 *scales,
                          const __nv_bfloat16 *zeros, __nv_bfloat16 *y, int64_t m, int64_t n,
                          int64_t k, int64_t group, cudaStream_t stream)
{
    const int64_t x_pitch = (k + 7) / 8 * 8, pitch = (n + 15) / 16 * 16;
    const problem p = {x, w_q,     scales, zeros,           y, nullptr, m, n,
                       k, x_pitch, pitch,  (unsigned)group, 1};

    if (m <= 16) /* one tile of rows: w_q is read once and bounds the time */
        return (int)run<1, 1, 6>(p, stream);
    if (m <= 32)
        return (int)run<2, 1, 5>(p, stream);
    if (m <= 64)
        return (int)run<4, 1, 3>(p, stream);
    return (int)run<4, 2, 2>(p, stream);
}
