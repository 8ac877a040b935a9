// problem: conv2d_f32
// verdict: general
// construction: a product [filters, k] by [k, places] in tiles of 128 x 128, 8 x 8 sums a thread, the next step on its way in
// registers; where a term lies in x is looked up in a table; slices of k where tiles are few. Few filters in a group: a
// thread an output
#include <stdint.h>

namespace {

constexpr int STEP = 8, THREADS = 256;

/* x is [n, c, h, w], weight is [o, c / groups, kh, kw], y is [n, o, oh, ow] */
struct conv {
    const float *x, *weight, *bias;
    float *y;
    int64_t n, c, h, w, o;
    int kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w;
    int64_t groups, oh, ow, channels, filters; /* channels and filters of a group */
};

/* ---- tiles ---- */

/* Where term k of a sum lies: rows and columns from the window's corner, elements of x from there. */
struct __align__(16) tap {
    int64_t offset;
    int row, column;
};

struct plan {
    const tap *taps; /* [k], and up to a whole step more that lie outside of every image */
    float *part;     /* [slices, o, places], unless slices == 1 */
    int64_t depth, places;
    int slices;
};

__global__ void __launch_bounds__(THREADS) list_taps(conv q, int64_t depth, int64_t count, tap *taps)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int64_t ch = k / (q.kh * q.kw), u = k / q.kw % q.kh * q.dil_h, v = k % q.kw * q.dil_w;

    if (k < depth)
        taps[k] = {ch * q.h * q.w + u * q.w + v, (int)u, (int)v};
    else if (k < count)
        taps[k] = {0, 1 << 29, 0};
}

/* The loads of a thread along k: BM / 32 weights, and 4 terms of one place. */
template <int BM> struct loader {
    const float *weight, *x; /* of the group; x of the place's image */
    int64_t filters, corner; /* left of this tile; the window's corner in x, perhaps before it */
    int top, left;
    float a[BM / 32], b[4];

    __device__ loader(const conv &q, const plan &p, int64_t group, int64_t first_filter, int64_t first_place)
    {
        const int64_t place = first_place + threadIdx.x % 128, area = q.oh * q.ow;
        const bool inside = place < p.places;
        const int64_t safe = inside ? place : 0;
        weight = q.weight + (group * q.filters + first_filter) * p.depth;
        filters = q.filters - first_filter;
        x = q.x + (safe / area * q.c + group * q.channels) * q.h * q.w;
        top = (int)(safe / q.ow % q.oh) * q.stride_h - q.pad_h;
        left = (int)(safe % q.ow) * q.stride_w - q.pad_w;
        corner = top * q.w + left;
        if (!inside)
            top = -(1 << 30); /* never in the image */
    }

    __device__ void fetch(const conv &q, const plan &p, int k0)
    {
#pragma unroll
        for (int e = 0; e < BM / 32; e++) {
            const int f = threadIdx.x / STEP + 32 * e, k = k0 + threadIdx.x % STEP;
            a[e] = f < filters && k < p.depth ? weight[f * p.depth + k] : 0.0f;
        }
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const tap t = p.taps[k0 + threadIdx.x / 128 + 2 * e];
            const int row = top + t.row, column = left + t.column;
            const bool inside = row >= 0 && row < q.h && column >= 0 && column < q.w;
            b[e] = inside ? x[corner + t.offset] : 0.0f;
        }
    }

    __device__ void stage(float (*to_a)[BM + 4], float (*to_b)[132]) const
    {
#pragma unroll
        for (int e = 0; e < BM / 32; e++)
            to_a[threadIdx.x % STEP][threadIdx.x / STEP + 32 * e] = a[e];
#pragma unroll
        for (int e = 0; e < 4; e++)
            to_b[threadIdx.x / 128 + 2 * e][threadIdx.x % 128] = b[e];
    }
};

/* Four in a row each: 64 apart. */
template <int COUNT> __device__ void read(float (&to)[COUNT], const float *from)
{
#pragma unroll
    for (int e = 0; e < COUNT; e += 4)
        *(float4 *)&to[e] = *(const float4 *)(from + 16 * e);
}

/* One tile of BM filters by 128 places, slice blockIdx.y of k. A thread has filters 4 ty .. 4 ty + 3 and those 64 on, places
 * 4 tx .. likewise. */
template <int BM> __global__ void __launch_bounds__(THREADS, 2) multiply_tile(conv q, plan p)
{
    constexpr int EACH = BM / 16;
    __shared__ __align__(16) float a[2][STEP][BM + 4], b[2][STEP][132];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t across = (q.filters + BM - 1) / BM, down = (p.places + 127) / 128;
    const int64_t group = blockIdx.x / (across * down);
    const int64_t first_filter = blockIdx.x % across * BM, first_place = blockIdx.x / across % down * 128;
    const int steps = (int)((p.depth + STEP - 1) / STEP); /* at most 121 taps of 2048 channels */
    const int first = steps * blockIdx.y / p.slices, last = steps * (blockIdx.y + 1) / p.slices;
    loader<BM> next(q, p, group, first_filter, first_place);
    float sum[EACH][8] = {};

    next.fetch(q, p, first * STEP);
    next.stage(a[0], b[0]);
    __syncthreads();
    for (int step = first; step < last; step++) {
        const int now = (step - first) % 2;
        if (step + 1 < last)
            next.fetch(q, p, (step + 1) * STEP);
#pragma unroll
        for (int k = 0; k < STEP; k++) {
            float fa[EACH], fb[8];
            read(fa, &a[now][k][4 * ty]);
            read(fb, &b[now][k][4 * tx]);
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] = fmaf(fa[i], fb[j], sum[i][j]);
        }
        if (step + 1 < last)
            next.stage(a[1 - now], b[1 - now]);
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const int64_t place = first_place + j / 4 * 64 + 4 * tx + j % 4, area = q.oh * q.ow;
        const int64_t image = place / area, pixel = place % area;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int64_t filter = first_filter + i / 4 * 64 + 4 * ty + i % 4, f = group * q.filters + filter;
            if (filter >= q.filters || place >= p.places)
                continue;
            if (p.slices > 1)
                p.part[(blockIdx.y * q.o + f) * p.places + place] = sum[i][j];
            else
                q.y[(image * q.o + f) * area + pixel] = sum[i][j] + q.bias[f];
        }
    }
}

/* y = the sum of the slices, in order, and the bias */
__global__ void __launch_bounds__(THREADS) merge(conv q, plan p)
{
    const int64_t step = (int64_t)gridDim.x * THREADS, area = q.oh * q.ow, count = q.o * p.places;

    for (int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x; at < count; at += step) {
        const int64_t f = at / p.places, place = at % p.places;
        float sum = 0;
        for (int s = 0; s < p.slices; s++)
            sum += p.part[s * count + at];
        q.y[(place / area * q.o + f) * area + place % area] = sum + q.bias[f];
    }
}

static unsigned blocks_for(int64_t threads)
{
    const int64_t blocks = (threads + THREADS - 1) / THREADS;
    return (unsigned)(blocks < 1 << 18 ? blocks : 1 << 18);
}

/* How many slices of k give every multiprocessor about two blocks; at least 32 steps a slice. */
static int slices_for(int64_t tiles, int64_t depth)
{
    int device = 0, units = 1;

    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    const int64_t wanted = (int64_t)units * 2 / tiles, most = depth / (32 * STEP);
    const int64_t slices = wanted < most ? wanted : most;
    return slices < 1 ? 1 : slices > 32 ? 32 : (int)slices;
}

static cudaError_t in_tiles(const conv &q, cudaStream_t stream)
{
    const int64_t depth = q.channels * q.kh * q.kw, places = q.n * q.oh * q.ow;
    const int64_t count = (depth + STEP - 1) / STEP * STEP, rows = q.filters > 64 ? 128 : 64;
    const int64_t tiles = (q.filters + rows - 1) / rows * ((places + 127) / 128) * q.groups;
    plan p = {nullptr, nullptr, depth, places, slices_for(tiles, depth)};
    const int64_t part_bytes = p.slices > 1 ? p.slices * q.o * places * 4 : 0;
    uint8_t *space = nullptr;
    const cudaError_t error =
        cudaMallocAsync((void **)&space, (size_t)(count * (int64_t)sizeof(tap) + part_bytes), stream);

    if (error != cudaSuccess)
        return error;
    p.taps = (const tap *)space;
    p.part = (float *)(space + count * sizeof(tap));
    list_taps<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, stream>>>(q, depth, count, (tap *)space);
    const dim3 grid((unsigned)tiles, (unsigned)p.slices);
    if (rows == 128)
        multiply_tile<128><<<grid, THREADS, 0, stream>>>(q, p);
    else
        multiply_tile<64><<<grid, THREADS, 0, stream>>>(q, p);
    if (p.slices > 1)
        merge<<<blocks_for(q.o * places), THREADS, 0, stream>>>(q, p);
    cudaFreeAsync(space, stream);
    return cudaGetLastError();
}

/* ---- few filters in a group ---- */

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
        const float *x = q.x + ((int64_t)image * q.c + group * q.channels) * q.h * q.w;
        const float *weight = q.weight + f * depth;
        float sum[F] = {};
        for (int64_t ch = 0; ch < q.channels; ch++, x += q.h * q.w)
#pragma unroll(K ? K : 1)
            for (int u = 0; u < kh; u++)
#pragma unroll(K ? K : 1)
                for (int v = 0; v < kw; v++, weight++) {
                    const int row = top + u * q.dil_h, column = left + v * q.dil_w;
                    if (row < 0 || row >= q.h || column < 0 || column >= q.w)
                        continue;
                    const float value = x[(int64_t)row * q.w + column];
#pragma unroll
                    for (int e = 0; e < F; e++)
                        sum[e] += value * weight[e * depth];
                }
#pragma unroll
        for (int e = 0; e < F; e++)
            q.y[(((int64_t)image * q.o + f + e) * q.oh + i) * q.ow + j] = sum[e] + q.bias[f + e];
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

extern "C" int conv2d_f32(const float *x, const float *weight, const float *bias, float *y, int64_t n, int64_t c,
                          int64_t h, int64_t w, int64_t o, int64_t kh, int64_t kw, int64_t stride_h, int64_t stride_w,
                          int64_t pad_h, int64_t pad_w, int64_t dil_h, int64_t dil_w, int64_t groups,
                          cudaStream_t stream)
{
    const conv q = {x, weight, bias, y, n, c, h, w, o, (int)kh, (int)kw, (int)stride_h, (int)stride_w, (int)pad_h,
                    (int)pad_w, (int)dil_h, (int)dil_w, groups, (h + 2 * pad_h - dil_h * (kh - 1) - 1) / stride_h + 1,
                    (w + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w + 1, c / groups, o / groups};
    const bool threes = kh == 3 && kw == 3;

    if (q.filters >= 16)
        return (int)in_tiles(q, stream);
    if (q.filters % 4 == 0)
        return (int)(threes ? directly<4, 3>(q, stream) : directly<4, 0>(q, stream));
    return (int)(threes ? directly<1, 3>(q, stream) : directly<1, 0>(q, stream));
}
