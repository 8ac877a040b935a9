// problem: conv2d_bf16
// verdict: general
// construction: images laid out channels last; windows gathered by cp.async in 16-byte chunks into a ring, mma.sync
// m16n8k16 fed by ldmatrix, slices of k where tiles are few. Groups of few channels or filters: a thread an output
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int DEPTH = 64, STAGES = 3, THREADS = 256; /* k in a stage */

/* x is [n, c, h, w], weight is [o, c / groups, kh, kw], y is [n, o, oh, ow] */
struct conv {
    const __nv_bfloat16 *x, *weight;
    const float *bias;
    __nv_bfloat16 *y;
    int64_t n, c, h, w, o;
    int kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w;
    int64_t groups, oh, ow, channels, filters; /* channels and filters of a group */
};

/* ---- images and filters with the channels last, those of a group padded to whole chunks of 8 by zeros ---- */

struct packed {
    const __nv_bfloat16 *image;  /* [images, h, w, groups, padded] */
    const __nv_bfloat16 *filter; /* [o, kh, kw, padded] */
    float *part;                 /* [slices, o, places], unless slices == 1 */
    int64_t first, images, places, padded, depth;
    int slices;
};

__global__ void __launch_bounds__(THREADS) pack_images(conv q, packed p, __nv_bfloat16 *out)
{
    __shared__ __nv_bfloat16 tile[32][34];
    const int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    const int64_t area = q.h * q.w, width = q.groups * p.padded;
    const int64_t down = (area + 31) / 32, across = (width + 31) / 32;

    for (int64_t at = blockIdx.x; at < down * across * p.images; at += gridDim.x) {
        const int64_t pixel0 = at % down * 32, channel0 = at / down % across * 32, image = at / down / across;
        for (int i = ty; i < 32; i += 8) {
            const int64_t pixel = pixel0 + tx, group = (channel0 + i) / p.padded, ch = (channel0 + i) % p.padded;
            const bool inside = pixel < area && group < q.groups && ch < q.channels;
            tile[i][tx] = inside ? q.x[((p.first + image) * q.c + group * q.channels + ch) * area + pixel]
                                 : __float2bfloat16(0.0f);
        }
        __syncthreads();
        for (int i = ty; i < 32; i += 8)
            if (pixel0 + i < area && channel0 + tx < width)
                out[(image * area + pixel0 + i) * width + channel0 + tx] = tile[tx][i];
        __syncthreads();
    }
}

__global__ void __launch_bounds__(THREADS) pack_filters(conv q, packed p, __nv_bfloat16 *out)
{
    const int64_t taps = (int64_t)q.kh * q.kw, step = (int64_t)gridDim.x * THREADS;

    for (int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x; at < q.o * p.depth; at += step) {
        const int64_t ch = at % p.padded, tap = at / p.padded % taps, f = at / p.depth;
        out[at] = ch < q.channels ? q.weight[(f * q.channels + ch) * taps + tap] : __float2bfloat16(0.0f);
    }
}

/* ---- matrix units ---- */

/* Where chunk `chunk` (8 elements, 16 bytes) of a row of 8 lies in a stage. The 8 rows that ldmatrix reads at once, 128
 * bytes apart, must take different banks: their chunks are exchanged by the lower bits of the row. */
__device__ uint32_t chunk_at(uint32_t tile, int row, int chunk)
{
    return tile + (row * 8 + (chunk ^ row % 8)) * 16;
}

/* 16 bytes from global to shared memory, or 16 zeros, reading nothing, where `inside` is false. */
__device__ void copy_chunk(uint32_t to, const __nv_bfloat16 *from, bool inside)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0)
                 : "memory");
}

/* Four 8 x 8 matrices; lanes 8q .. 8q + 7 give the row addresses of matrix q, which becomes register q. Lane 4g + t gets
 * elements 2t, 2t + 1 of row g. */
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

/* sum += the 64 terms of a stage for the warp's filters from `row` and places from `column` on. */
template <int MT, int NT>
__device__ void multiply(float (&sum)[MT][NT][4], uint32_t filters, uint32_t windows, int row, int column)
{
    const int lane = threadIdx.x % 32;

#pragma unroll
    for (int p = 0; p < DEPTH / 8; p += 2) {
        uint32_t a[MT][4], b[NT / 2][4];
#pragma unroll
        for (int i = 0; i < MT; i++) /* rows 0-7 and 8-15 at k 0-7, then both at k 8-15 */
            load_matrices(a[i], chunk_at(filters, row + 16 * i + lane % 16, p + lane / 16));
#pragma unroll
        for (int j = 0; j < NT / 2; j++) /* places 0-7 at k 0-7, 8-15, then places 8-15 */
            load_matrices(b[j], chunk_at(windows, column + 16 * j + lane % 8 + lane / 16 * 8, p + lane / 8 % 2));
#pragma unroll
        for (int i = 0; i < MT; i++)
#pragma unroll
            for (int j = 0; j < NT; j++)
                mma(sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
}

/* A thread copies the chunk threadIdx.x % 8 of every 32nd row: always the same rows, so that where their windows begin is
 * found once. `tap` and `chunk` walk along k, 8 chunks a step. */
template <int ROWS> struct walker {
    const __nv_bfloat16 *image[ROWS];
    int top[ROWS], left[ROWS];
    int u, v;
    int chunk, at; /* of the tap's chunks; of all chunks */

    __device__ walker(const conv &q, const packed &p, int64_t group, int64_t first_place, int first_step)
    {
        const int chunks = (int)p.padded / 8;
        at = first_step * 8 + threadIdx.x % 8;
        chunk = at % chunks;
        u = at / chunks / q.kw;
        v = at / chunks % q.kw;
#pragma unroll
        for (int e = 0; e < ROWS; e++) {
            const int64_t place = first_place + threadIdx.x / 8 + 32 * e;
            const bool inside = place < p.places;
            const int64_t safe = inside ? place : 0, index = safe / (q.oh * q.ow);
            image[e] = p.image + (index * q.h * q.w * q.groups + group) * p.padded;
            top[e] = inside ? (int)(safe / q.ow % q.oh) * q.stride_h - q.pad_h : -(1 << 30); /* never in the image */
            left[e] = (int)(safe % q.ow) * q.stride_w - q.pad_w;
        }
    }

    __device__ void copy(const conv &q, const packed &p, uint32_t windows)
    {
#pragma unroll
        for (int e = 0; e < ROWS; e++) {
            const int row = top[e] + u * q.dil_h, column = left[e] + v * q.dil_w;
            const bool inside = u < q.kh && row >= 0 && row < q.h && column >= 0 && column < q.w;
            const int64_t offset = (row * q.w + column) * q.groups * p.padded + chunk * 8;
            copy_chunk(chunk_at(windows, threadIdx.x / 8 + 32 * e, threadIdx.x % 8),
                       inside ? image[e] + offset : p.image, inside);
        }
    }

    __device__ void advance(const conv &q, const packed &p)
    {
        at += 8;
        chunk += 8;
        while (chunk >= (int)p.padded / 8) {
            chunk -= (int)p.padded / 8;
            if (++v == q.kw) {
                v = 0;
                u++;
            }
        }
    }
};

/* Row i of `out` is filter first_filter + i; threads with the same threadIdx.x % BN share a place. */
template <int BM, int BN>
__device__ void store_tile(const conv &q, const packed &p, const float (*out)[BN + 4], int64_t group,
                           int64_t first_filter, int64_t first_place)
{
    const int64_t place = first_place + threadIdx.x % BN, area = q.oh * q.ow;
    const int64_t image = p.first + place / area, pixel = place % area;

    if (place >= p.places)
        return;
    for (int i = threadIdx.x / BN; i < BM && first_filter + i < q.filters; i += THREADS / BN) {
        const int64_t f = group * q.filters + first_filter + i;
        const float sum = out[i][threadIdx.x % BN];
        if (p.slices > 1)
            p.part[(blockIdx.y * q.o + f) * p.places + place] = sum;
        else
            q.y[(image * q.o + f) * area + pixel] = __float2bfloat16(sum + q.bias[f]);
    }
}

/* One tile of BM filters by BN places, slice blockIdx.y of k, by WM x WN warps. */
template <int BM, int BN, int WM, int WN>
__global__ void __launch_bounds__(THREADS, 2) multiply_tile(conv q, packed p)
{
    static_assert(WM * WN * 32 == THREADS, "all warps have a part of the tile");
    constexpr int MT = BM / WM / 16, NT = BN / WN / 8;
    constexpr uint32_t A_BYTES = BM * DEPTH * 2, STAGE = (BM + BN) * DEPTH * 2;
    extern __shared__ __align__(128) uint8_t ring[];
    const uint32_t base = (uint32_t)__cvta_generic_to_shared(ring);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp / WN * (16 * MT), column = warp % WN * (8 * NT);
    const int64_t across = (q.filters + BM - 1) / BM, down = (p.places + BN - 1) / BN;
    const int64_t group = blockIdx.x / (across * down);
    const int64_t first_filter = blockIdx.x % across * BM, first_place = blockIdx.x / across % down * BN;
    const int steps = (int)((p.depth + DEPTH - 1) / DEPTH); /* at most 121 taps of 2048 channels */
    const int first = steps * blockIdx.y / p.slices, last = steps * (blockIdx.y + 1) / p.slices;
    const __nv_bfloat16 *filters = p.filter + (group * q.filters + first_filter) * p.depth;
    walker<BN / 32> windows(q, p, group, first_place, first);
    float sum[MT][NT][4] = {};

    const auto request = [&](int step) { /* in turn; an empty group past the end keeps the count right */
        if (step < last) {
            const uint32_t stage = base + (step - first) % STAGES * STAGE;
#pragma unroll
            for (int e = 0; e < BM / 32; e++) {
                const int i = threadIdx.x / 8 + 32 * e;
                const bool inside = first_filter + i < q.filters && windows.at * 8 < p.depth;
                copy_chunk(chunk_at(stage, i, threadIdx.x % 8),
                           inside ? filters + i * p.depth + windows.at * 8 : p.filter, inside);
            }
            windows.copy(q, p, stage + A_BYTES);
            windows.advance(q, p);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    for (int s = 0; s < STAGES - 1; s++)
        request(first + s);
    for (int step = first; step < last; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads(); /* the step has arrived; all warps are done with the step before it, */
        request(step + STAGES - 1); /* whose stage this overwrites */
        const uint32_t stage = base + (step - first) % STAGES * STAGE;
        multiply<MT, NT>(sum, stage, stage + A_BYTES, row, column);
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads(); /* the ring is free: sums go through it, so that places of a filter are stored together */
    float(*out)[BN + 4] = (float(*)[BN + 4])ring;
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
        for (int j = 0; j < NT; j++) { /* lane 4g + t: places 2t, 2t + 1 of filters g and g + 8 */
            const int r = row + 16 * i + lane / 4, c = column + 8 * j + lane % 4 * 2;
            *(float2 *)&out[r][c] = make_float2(sum[i][j][0], sum[i][j][1]);
            *(float2 *)&out[r + 8][c] = make_float2(sum[i][j][2], sum[i][j][3]);
        }
    __syncthreads();
    store_tile<BM, BN>(q, p, out, group, first_filter, first_place);
}

/* y = the sum of the slices, in order, and the bias */
__global__ void __launch_bounds__(THREADS) merge(conv q, packed p)
{
    const int64_t step = (int64_t)gridDim.x * THREADS, area = q.oh * q.ow, count = q.o * p.places;

    for (int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x; at < count; at += step) {
        const int64_t f = at / p.places, place = at % p.places;
        float sum = 0;
        for (int s = 0; s < p.slices; s++)
            sum += p.part[s * count + at];
        q.y[((p.first + place / area) * q.o + f) * area + place % area] = __float2bfloat16(sum + q.bias[f]);
    }
}

static unsigned blocks_for(int64_t threads)
{
    const int64_t blocks = (threads + THREADS - 1) / THREADS;
    return (unsigned)(blocks < 1 << 18 ? blocks : 1 << 18);
}

/* How many slices of k give every multiprocessor about two blocks; at least 8 steps a slice. */
static int slices_for(int64_t tiles, int64_t depth)
{
    int device = 0, units = 1;

    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    const int64_t wanted = (int64_t)units * 2 / tiles, most = depth / (8 * DEPTH);
    const int64_t slices = wanted < most ? wanted : most;
    return slices < 1 ? 1 : slices > 32 ? 32 : (int)slices;
}

template <int BM, int BN, int WM, int WN>
static cudaError_t multiply_images(const conv &q, packed p, cudaStream_t stream)
{
    constexpr int RING = STAGES * (BM + BN) * DEPTH * 2;
    static_assert(RING >= BM * (BN + 4) * 4, "the sums fit into the ring");
    const int64_t tiles = (q.filters + BM - 1) / BM * ((p.places + BN - 1) / BN) * q.groups;
    cudaError_t error = cudaFuncSetAttribute(multiply_tile<BM, BN, WM, WN>,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, RING);

    p.slices = slices_for(tiles, p.depth);
    if (error == cudaSuccess && p.slices > 1)
        error = cudaMallocAsync((void **)&p.part, (size_t)(p.slices * q.o * p.places) * 4, stream);
    if (error != cudaSuccess)
        return error;
    multiply_tile<BM, BN, WM, WN><<<dim3((unsigned)tiles, (unsigned)p.slices), THREADS, RING, stream>>>(q, p);
    if (p.slices > 1) {
        merge<<<blocks_for(q.o * p.places), THREADS, 0, stream>>>(q, p);
        cudaFreeAsync(p.part, stream);
    }
    return cudaGetLastError();
}

constexpr int64_t MOST_BYTES = (int64_t)1 << 31; /* of images laid out at a time */

static int64_t image_bytes(const conv &q)
{
    return q.h * q.w * q.groups * ((q.channels + 7) / 8 * 8) * 2;
}

/* As many images at a time as MOST_BYTES hold, or one. */
static cudaError_t on_matrix_units(const conv &q, cudaStream_t stream)
{
    const int64_t fit = MOST_BYTES / image_bytes(q), at_once = fit < 1 ? 1 : fit < q.n ? fit : q.n;
    packed p = {};
    p.padded = (q.channels + 7) / 8 * 8;
    p.depth = q.kh * q.kw * p.padded;
    const int64_t filter_bytes = (q.o * p.depth * 2 + 255) / 256 * 256;
    uint8_t *space = nullptr;
    cudaError_t error = cudaMallocAsync((void **)&space, (size_t)(filter_bytes + at_once * image_bytes(q)), stream);

    if (error != cudaSuccess)
        return error;
    p.filter = (__nv_bfloat16 *)space;
    p.image = (__nv_bfloat16 *)(space + filter_bytes);
    pack_filters<<<blocks_for(q.o * p.depth), THREADS, 0, stream>>>(q, p, (__nv_bfloat16 *)space);
    for (p.first = 0; p.first < q.n && error == cudaSuccess; p.first += at_once) {
        p.images = q.n - p.first < at_once ? q.n - p.first : at_once;
        p.places = p.images * q.oh * q.ow;
        pack_images<<<blocks_for(p.images * q.h * q.w * q.groups * p.padded / 4), THREADS, 0, stream>>>(
            q, p, (__nv_bfloat16 *)(space + filter_bytes));
        error = q.filters > 64 ? multiply_images<128, 128, 2, 4>(q, p, stream)
                               : multiply_images<64, 128, 2, 4>(q, p, stream);
    }
    cudaFreeAsync(space, stream);
    return error;
}

/* ---- few channels or filters in a group ---- */

/* A thread has one place of F filters of a group. K: rows and columns of the filter; 0: as q says. */
template <int F, int K, typename index> __global__ void __launch_bounds__(THREADS) direct(conv q)
{
    const int kh = K ? K : q.kh, kw = K ? K : q.kw;
    const index ow = (index)q.ow, oh = (index)q.oh, blocks = (index)(q.o / F);
    const index count = (index)(q.n * (q.o / F) * q.oh * q.ow), step = (index)gridDim.x * THREADS;

    for (index at = (index)blockIdx.x * THREADS + threadIdx.x; at < count; at += step) {
        const index j = at % ow, i = at / ow % oh, plane = at / ow / oh, image = plane / blocks;
        const int64_t f = (int64_t)(plane % blocks) * F;
        const int64_t group = f / q.filters, depth = q.channels * kh * kw;
        const int top = (int)i * q.stride_h - q.pad_h, left = (int)j * q.stride_w - q.pad_w;
        const __nv_bfloat16 *x = q.x + ((int64_t)image * q.c + group * q.channels) * q.h * q.w;
        const __nv_bfloat16 *weight = q.weight + f * depth;
        float sum[F] = {};
        for (int64_t ch = 0; ch < q.channels; ch++, x += q.h * q.w)
#pragma unroll(K ? K : 1)
            for (int u = 0; u < kh; u++)
#pragma unroll(K ? K : 1)
                for (int v = 0; v < kw; v++, weight++) {
                    const int row = top + u * q.dil_h, column = left + v * q.dil_w;
                    if (row < 0 || row >= q.h || column < 0 || column >= q.w)
                        continue;
                    const float value = float(x[(int64_t)row * q.w + column]);
#pragma unroll
                    for (int e = 0; e < F; e++)
                        sum[e] += value * float(weight[e * depth]);
                }
#pragma unroll
        for (int e = 0; e < F; e++)
            q.y[(((int64_t)image * q.o + f + e) * q.oh + i) * q.ow + j] = __float2bfloat16(sum[e] + q.bias[f + e]);
    }
}

template <int F, int K> static cudaError_t directly(const conv &q, cudaStream_t stream)
{
    const int64_t count = q.n * (q.o / F) * q.oh * q.ow;

    if (count < (int64_t)1 << 31) /* with the last step past the end still below 2^32 */
        direct<F, K, uint32_t><<<blocks_for(count), THREADS, 0, stream>>>(q);
    else
        direct<F, K, int64_t><<<blocks_for(count), THREADS, 0, stream>>>(q);
    return cudaGetLastError();
}

} // namespace

extern "C" int conv2d_bf16(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, const float *bias, __nv_bfloat16 *y,
                           int64_t n, int64_t c, int64_t h, int64_t w, int64_t o, int64_t kh, int64_t kw,
                           int64_t stride_h, int64_t stride_w, int64_t pad_h, int64_t pad_w, int64_t dil_h,
                           int64_t dil_w, int64_t groups, cudaStream_t stream)
{
    const conv q = {x, weight, bias, y, n, c, h, w, o, (int)kh, (int)kw, (int)stride_h, (int)stride_w, (int)pad_h,
                    (int)pad_w, (int)dil_h, (int)dil_w, groups, (h + 2 * pad_h - dil_h * (kh - 1) - 1) / stride_h + 1,
                    (w + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w + 1, c / groups, o / groups};
    const bool threes = kh == 3 && kw == 3;

    if (q.filters >= 16 && (q.channels >= 4 || groups == 1) && image_bytes(q) <= 4 * MOST_BYTES)
        return (int)on_matrix_units(q, stream);
    if (q.filters % 4 == 0)
        return (int)(threes ? directly<4, 3>(q, stream) : directly<4, 0>(q, stream));
    return (int)(threes ? directly<1, 3>(q, stream) : directly<1, 0>(q, stream));
}
