// problem: softmax
// verdict: general
// construction: short rows in the registers of some lanes; longer ones in those of a cluster of up
//   to 16 blocks that exchange (max, sum) pairs; still longer ones split by two kernels

#include <cooperative_groups.h>
#include <cstdint>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

constexpr int SHORT = 1024;   /* columns a warp holds */
constexpr int MAX_RANKS = 16; /* blocks a cluster; more than 8 is not portable, so it is probed */
constexpr int WIDE = 512, HELD = 8;       /* threads a block; 16-byte lines that a thread holds */
constexpr int64_t BATCH_BYTES = 16 << 20; /* split rows at a time: the second read finds L2 */

/* sum of exp(x - max) over what was seen; nothing but -inf seen: {-inf, 0} */
struct alignas(8) Pair {
    float max, sum;
};

constexpr Pair NOTHING = {-INFINITY, 0.0f};

/* The factor from exp(x - max) to exp(x - whole). If max is -inf, there were no values. */
static __device__ float weight(float max, float whole)
{
    return max == -INFINITY ? 0.0f : __expf(max - whole);
}

/* Symmetric to the bit. NaN stays, as NaN * 0 is NaN; +inf makes one by exp(inf - inf). */
static __device__ Pair merge(Pair a, Pair b)
{
    float max = fmaxf(a.max, b.max);
    return {max, a.sum * weight(a.max, max) + b.sum * weight(b.max, max)};
}

/* Groups of LANES neighbouring lanes; every lane gets the result. */
template <int LANES = 32>
__device__ float lanes_max(float value)
{
    for (int lane = LANES / 2; lane > 0; lane /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, lane));
    return value;
}

template <int LANES = 32>
__device__ float lanes_sum(float value)
{
    for (int lane = LANES / 2; lane > 0; lane /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lane);
    return value;
}

static __device__ Pair warp_merge(Pair own)
{
    float max = lanes_max(own.max);
    return {max, lanes_sum(own.sum * weight(own.max, max))};
}

/* One warp merges count pairs; all warps that do so get the same bits. */
static __device__ Pair merge_all(const Pair *pair, int count)
{
    Pair all = NOTHING;
    for (int i = threadIdx.x % 32; i < count; i += 32)
        all = merge(all, pair[i]);
    return warp_merge(all);
}

/* A row seen as aligned 16-byte lines: line q holds columns 4 q - skip .. 4 q - skip + 3. The first
 * and the last may lie partly outside. x and y are 16-byte aligned: skip is the same for both. */
struct Row {
    const float *x;
    float *y;
    int skip, cols, lines;

    __device__ Row(const float *all_x, float *all_y, int64_t row, int64_t cols)
        : x(all_x + row * cols), y(all_y + row * cols), cols((int)cols)
    {
        skip = (int)((uintptr_t)x / sizeof(float) % 4);
        lines = (skip + this->cols + 3) / 4;
    }
    __device__ bool inside(int c) const { return c >= 0 && c < cols; }
    __device__ bool whole(int q) const { return 4 * q >= skip && 4 * q - skip + 4 <= cols; }
    __device__ const float4 *at(int q) const
    {
        return reinterpret_cast<const float4 *>(x + (4 * q - skip));
    }
    __device__ float one(int c) const { return inside(c) ? x[c] : -INFINITY; } /* adds exp = 0 */
    __device__ float4 edge(int q) const
    {
        int c = 4 * q - skip;
        return make_float4(one(c), one(c + 1), one(c + 2), one(c + 3));
    }
    __device__ float4 load(int q) const { return whole(q) ? *at(q) : edge(q); }
    __device__ void store(int q, float4 v) const
    {
        int c = 4 * q - skip;
        if (whole(q)) {
            *reinterpret_cast<float4 *>(y + c) = v;
            return;
        }
        const float part[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (inside(c + i))
                y[c + i] = part[i];
    }
};

static __device__ float line_max(float4 v)
{
    return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
}

static __device__ float line_sum(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}

static __device__ float4 line_exp(float4 v, float max)
{
    return make_float4(__expf(v.x - max), __expf(v.y - max), __expf(v.z - max), __expf(v.w - max));
}

static __device__ float4 line_scale(float4 v, float by)
{
    return make_float4(v.x * by, v.y * by, v.z * by, v.w * by);
}

/* cols <= LANES * ITEMS; lanes past the last row join the shuffles and store nothing. */
template <int LANES, int ITEMS>
__global__ void __launch_bounds__(128)
short_rows(const float *x, float *y, int64_t rows, int64_t cols)
{
    int64_t row = ((int64_t)blockIdx.x * 128 + threadIdx.x) / LANES;
    int lane = threadIdx.x % LANES, count = row < rows ? (int)cols : 0;
    float v[ITEMS], max = -INFINITY, sum = 0.0f;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        v[i] = lane + i * LANES < count ? x[row * cols + lane + i * LANES] : -INFINITY;
        max = fmaxf(max, v[i]);
    }
    max = lanes_max<LANES>(max);
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        v[i] = __expf(v[i] - max);
        sum += v[i];
    }
    float scale = 1.0f / lanes_sum<LANES>(sum);
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
        if (lane + i * LANES < count)
            y[row * cols + lane + i * LANES] = v[i] * scale;
}

/* Arrive releases and wait acquires what the cluster's blocks wrote, remote shared memory too. */
static __device__ void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive;" ::: "memory");
}

static __device__ void cluster_wait()
{
    asm volatile("barrier.cluster.wait;" ::: "memory");
}

/* Every warp of the cluster tells every block its pair; the result is the row's. The first wait
 * belongs to an arrive at the kernel's start: no block is written to before it runs. Afterwards
 * only own shared memory is read, so a block may leave at once. */
template <int WARPS>
__device__ Pair exchange(Pair own, Pair *table)
{
    cg::cluster_group cluster = cg::this_cluster();
    int ranks = (int)cluster.num_blocks(), lane = threadIdx.x % 32;
    int slot = (int)cluster.block_rank() * WARPS + threadIdx.x / 32;
    if (ranks > 1) {
        cluster_wait();
        if (lane < ranks)
            cluster.map_shared_rank(table, lane)[slot] = own;
        cluster_arrive();
        cluster_wait();
    } else {
        if (lane == 0)
            table[slot] = own;
        __syncthreads();
    }
    return merge_all(table, ranks * WARPS);
}

/* A cluster a row, `per` lines a block, at most ITEMS a thread. Exponentials are relative to the
 * warp's own maximum; one factor a warp makes up for it and for the sum: 0 / 0 = NaN for a row of
 * -inf only. */
template <int THREADS, int ITEMS>
__global__ void __launch_bounds__(THREADS)
held_rows(const float *x, float *y, int64_t cols, int per)
{
    __shared__ Pair table[MAX_RANKS * (THREADS / 32)];
    cg::cluster_group cluster = cg::this_cluster();
    int ranks = (int)cluster.num_blocks(), rank = (int)cluster.block_rank();
    if (ranks > 1)
        cluster_arrive();
    const Row row(x, y, blockIdx.x / ranks, cols);
    const int from = rank * per + threadIdx.x, to = min((rank + 1) * per, row.lines);
    float4 held[ITEMS];
    Pair own = NOTHING;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) { /* whole lines first: nothing here waits for a load */
        int q = from + i * THREADS;
        held[i] = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        if (q < to && row.whole(q))
            held[i] = *row.at(q);
    }
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        int q = from + i * THREADS;
        if (q < to && !row.whole(q))
            held[i] = row.edge(q);
        own.max = fmaxf(own.max, line_max(held[i]));
    }
    own.max = lanes_max(own.max);
    const float base = own.max == -INFINITY ? 0.0f : own.max; /* exp(-inf - 0) is 0 */
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
        own.sum += line_sum(held[i] = line_exp(held[i], base));
    own.sum = lanes_sum(own.sum);

    const Pair all = exchange<THREADS / 32>(own, table);
    const float factor = weight(own.max, all.max) / all.sum;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
        if (from + i * THREADS < to)
            row.store(from + i * THREADS, line_scale(held[i], factor));
}

/* Split rows, first kernel: pair[row * spans + span] of `per` lines, some 8 a thread. */
__global__ void __launch_bounds__(WIDE)
span_pairs(const float *x, Pair *pair, int64_t cols, int spans, int per)
{
    __shared__ Pair table[WIDE / 32];
    const Row row(x, nullptr, blockIdx.x / spans, cols);
    const int span = blockIdx.x % spans, to = min((span + 1) * per, row.lines);
    Pair own = NOTHING;
    for (int q = span * per + threadIdx.x; q < to; q += WIDE) {
        float4 v = row.load(q);
        float max = line_max(v);
        own = merge(own, {max, line_sum(line_exp(v, max == -INFINITY ? 0.0f : max))});
    }
    own = warp_merge(own);
    if (threadIdx.x % 32 == 0)
        table[threadIdx.x / 32] = own;
    __syncthreads();
    own = merge_all(table, WIDE / 32);
    if (threadIdx.x == 0)
        pair[blockIdx.x] = own;
}

/* Second kernel: the row's pair anew in every warp, then the span. */
__global__ void __launch_bounds__(WIDE)
span_scale(const float *x, float *y, const Pair *pair, int64_t cols, int spans, int per)
{
    const int64_t index = blockIdx.x / spans;
    const Row row(x, y, index, cols);
    const int span = blockIdx.x % spans, to = min((span + 1) * per, row.lines);
    const Pair all = merge_all(pair + index * spans, spans);
    const float factor = 1.0f / all.sum;
    for (int q = span * per + threadIdx.x; q < to; q += WIDE)
        row.store(q, line_scale(line_exp(row.load(q), all.max), factor));
}

struct Job {
    const float *x;
    float *y;
    int64_t rows, cols;
    cudaStream_t stream;
};

template <int LANES, int ITEMS>
static cudaError_t launch_short(const Job &job)
{
    int64_t blocks = (job.rows * LANES + 127) / 128;
    short_rows<LANES, ITEMS><<<(unsigned)blocks, 128, 0, job.stream>>>(job.x, job.y, job.rows,
                                                                       job.cols);
    return cudaGetLastError();
}

static cudaError_t launch_shorts(const Job &job)
{
    return job.cols <= 16    ? launch_short<4, 4>(job)
           : job.cols <= 64  ? launch_short<16, 4>(job)
           : job.cols <= 256 ? launch_short<32, 8>(job)
           : job.cols <= 512 ? launch_short<32, 16>(job)
                             : launch_short<32, SHORT / 32>(job);
}

/* A launch of held_rows; the attribute lives here, since the configuration points to it. */
template <int THREADS, int ITEMS>
struct Launch {
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};

    Launch(int64_t rows, int ranks, cudaStream_t stream)
    {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = (unsigned)ranks;
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        config.gridDim = dim3((unsigned)(rows * ranks));
        config.blockDim = dim3(THREADS);
        config.stream = stream;
        config.attrs = &attribute;
        config.numAttrs = 1;
    }
    Launch(const Launch &) = delete;

    static cudaError_t allow_wide()
    {
        return cudaFuncSetAttribute(held_rows<THREADS, ITEMS>,
                                    cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    }
};

template <int THREADS, int ITEMS>
static cudaError_t launch_held(const Job &job, int ranks, int per)
{
    using Held = Launch<THREADS, ITEMS>;
    cudaError_t status = ranks > 8 ? Held::allow_wide() : cudaSuccess;
    if (status != cudaSuccess)
        return status;
    Held held(job.rows, ranks, job.stream);
    return cudaLaunchKernelEx(&held.config, held_rows<THREADS, ITEMS>, job.x, job.y, job.cols, per);
}

static cudaError_t launch_helds(const Job &job, int ranks, int per)
{
    if (ranks == 1 && per <= 128 * 8)
        return per <= 128 * 4 ? launch_held<128, 4>(job, 1, per) : launch_held<128, 8>(job, 1, per);
    return per <= WIDE       ? launch_held<WIDE, 1>(job, ranks, per)
           : per <= WIDE * 2 ? launch_held<WIDE, 2>(job, ranks, per)
           : per <= WIDE * 4 ? launch_held<WIDE, 4>(job, ranks, per)
                             : launch_held<WIDE, HELD>(job, ranks, per);
}

/* The widest cluster that this GPU can place, a power of two. */
static int probe_ranks()
{
    using Held = Launch<WIDE, HELD>;
    int ranks = Held::allow_wide() == cudaSuccess ? MAX_RANKS : 8;
    for (; ranks > 1; ranks /= 2) {
        int active = 0;
        Held held(1, ranks, nullptr);
        if (cudaOccupancyMaxActiveClusters(&active, held_rows<WIDE, HELD>, &held.config) ==
                cudaSuccess && active > 0)
            break;
    }
    (void)cudaGetLastError(); /* a width that is refused is no failure of this call */
    return ranks;
}

/* Two kernels for each batch of rows, small enough for the second to find x in L2. */
static cudaError_t launch_split(const Job &job, int64_t lines, int sms)
{
    int64_t batch = BATCH_BYTES / (4 * job.cols);
    batch = batch < 1 ? 1 : batch > job.rows ? job.rows : batch;
    int64_t per = (batch * lines + 2 * sms - 1) / (2 * sms); /* two blocks an SM */
    per = per < WIDE ? WIDE : per;
    int64_t spans = (lines + per - 1) / per;
    Pair *pair;
    cudaError_t status = cudaMallocAsync((void **)&pair, batch * spans * sizeof *pair, job.stream);
    if (status != cudaSuccess)
        return status;
    for (int64_t row = 0; row < job.rows && status == cudaSuccess; row += batch) {
        int64_t at = row * job.cols, left = job.rows - row;
        unsigned blocks = (unsigned)((left < batch ? left : batch) * spans);
        span_pairs<<<blocks, WIDE, 0, job.stream>>>(job.x + at, pair, job.cols, (int)spans,
                                                    (int)per);
        span_scale<<<blocks, WIDE, 0, job.stream>>>(job.x + at, job.y + at, pair, job.cols,
                                                    (int)spans, (int)per);
        status = cudaGetLastError();
    }
    cudaFreeAsync(pair, job.stream);
    return status;
}

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    const Job job = {x, y, rows, cols, stream};
    if (cols <= SHORT)
        return (int)launch_shorts(job);
    static const int widest = probe_ranks();
    int device, sms;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (status != cudaSuccess)
        return (int)status;

    /* Fewest blocks whose registers hold a row, more while the GPU would stay empty otherwise. */
    const int64_t lines = cols % 4 == 0 ? cols / 4 : (cols + 6) / 4, held = (int64_t)HELD * WIDE;
    int ranks = 1;
    while (ranks < widest && ranks * held < lines)
        ranks *= 2;
    while (2 * ranks <= widest && rows * 2 * ranks <= sms + sms / 8 && lines / (2 * ranks) >= 256)
        ranks *= 2;
    const int64_t per = (lines + ranks - 1) / ranks;
    return (int)(per > held ? launch_split(job, lines, sms) : launch_helds(job, ranks, (int)per));
}
