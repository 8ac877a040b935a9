// problem: cross_entropy
// verdict: general
// construction: one sweep with a running (max, sum) a thread, 16-byte loads, 32 logits a rescaling; a warp or a block a
//   row, long rows of few in parts; pairs merged by a second kernel, the mean in two stages of fixed order

#include <cstdint>
#include <cuda_bf16.h>

constexpr int THREADS = 256, VECTOR = 8, STEP = 4; /* logits a load, loads at a time */
constexpr int SHORT = 512, MEDIUM = 8192;          /* columns that a warp takes alone; where rows are many */
constexpr int64_t MANY = 2048;
constexpr int64_t BLOCKS = 528, LEAST = 8192;      /* parts: until so many blocks, of at least so many columns */
constexpr float LOG2E = 1.4426950408889634f;
constexpr uint32_t NONE = 0xff80ff80u; /* two of -inf */

/* sum of exp(x - max) over what was seen; nothing but -inf seen: {-inf, 0} */
struct alignas(8) Pair {
    float max, sum;
};

/* Within 2 ulp; below 2^-126 it is 0. */
__device__ float power_of_2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* exp(from - to), exactly 1 where both are equal. Nothing was seen where `from` is -inf. */
__device__ float carry(float from, float to)
{
    return from == -INFINITY ? 0 : power_of_2((from - to) * LOG2E);
}

/* NaN stays, as NaN * 0 is NaN; +inf makes one by inf - inf. */
__device__ Pair merge(Pair a, Pair b)
{
    const float max = fmaxf(a.max, b.max);
    return {max, a.sum * carry(a.max, max) + b.sum * carry(b.max, max)};
}

__device__ float low(uint32_t pair)
{
    return __uint_as_float(pair << 16);
}

__device__ float high(uint32_t pair)
{
    return __uint_as_float(pair & 0xffff0000u);
}

/* -inf adds 0 to any maximum; -inf - -inf would be NaN, so 0 is subtracted where all are. */
__device__ float rest(float max)
{
    return max == -INFINITY ? 0 : max * LOG2E;
}

__device__ void see(Pair *run, const uint4 (&v)[STEP])
{
    const uint32_t *pair = &v[0].x;
    float max = run->max;
#pragma unroll
    for (int i = 0; i < 4 * STEP; i++)
        max = fmaxf(max, fmaxf(low(pair[i]), high(pair[i])));
    const float less = rest(max);
    float sum[4] = {run->sum * carry(run->max, max), 0, 0, 0};
#pragma unroll
    for (int i = 0; i < 4 * STEP; i++) {
        sum[2 * (i % 2)] += power_of_2(fmaf(low(pair[i]), LOG2E, -less));
        sum[2 * (i % 2) + 1] += power_of_2(fmaf(high(pair[i]), LOG2E, -less));
    }
    *run = {max, (sum[0] + sum[1]) + (sum[2] + sum[3])};
}

__device__ void see_one(Pair *run, float x)
{
    const float max = fmaxf(run->max, x);
    *run = {max, run->sum * carry(run->max, max) + power_of_2(fmaf(x, LOG2E, -rest(max)))};
}

/* Columns [0, count) of x by LANES threads: up to 7 before the first multiple of 16 bytes, whole vectors, up to 7. */
template <int LANES>
__device__ Pair see_all(const __nv_bfloat16 *x, int64_t count, int lane)
{
    Pair run = {-INFINITY, 0};
    const int64_t unaligned = (int64_t)((16 - (uintptr_t)x % 16) % 16 / sizeof *x);
    const int64_t head = unaligned < count ? unaligned : count, vectors = (count - head) / VECTOR;
    const int64_t tail = head + vectors * VECTOR;
    const uint4 *v = (const uint4 *)(x + head);
    for (int64_t at = lane; at < vectors; at += STEP * LANES) {
        uint4 some[STEP];
#pragma unroll
        for (int i = 0; i < STEP; i++)
            some[i] = at + i * LANES < vectors ? __ldg(v + at + i * LANES) : make_uint4(NONE, NONE, NONE, NONE);
        see(&run, some);
    }
    if (lane < head)
        see_one(&run, __bfloat162float(x[lane]));
    if (lane < count - tail)
        see_one(&run, __bfloat162float(x[tail + lane]));
    return run;
}

__device__ Pair warp_merge(Pair run)
{
    for (int lane = 16; lane > 0; lane /= 2)
        run = merge(run, {__shfl_xor_sync(~0u, run.max, lane), __shfl_xor_sync(~0u, run.sum, lane)});
    return run;
}

/* LANES threads, a warp or a block, take part p % parts of row p / parts: columns from a multiple of VECTOR on. */
template <int LANES>
__global__ void __launch_bounds__(THREADS)
part_kernel(const __nv_bfloat16 *logits, Pair *out, int64_t count, int64_t parts, int64_t width, int64_t vocab,
            int64_t pitch)
{
    __shared__ Pair shared[THREADS / 32];
    const int64_t p = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / LANES, from = p % parts * width;
    const int64_t left = p < count && from < vocab ? vocab - from : 0;
    Pair run = {-INFINITY, 0};
    if (left > 0)
        run = see_all<LANES>(logits + p / parts * pitch + from, left < width ? left : width, threadIdx.x % LANES);
    run = warp_merge(run);
    if (LANES > 32) {
        if (threadIdx.x % 32 == 0)
            shared[threadIdx.x / 32] = run;
        __syncthreads();
        run = threadIdx.x % 32 < THREADS / 32 ? shared[threadIdx.x % 32] : Pair{-INFINITY, 0};
        run = warp_merge(run);
    }
    if (threadIdx.x % LANES == 0 && p < count)
        out[p] = run;
}

/* Sums over a block, in thread 0. */
__device__ void block_sum(float *sum, int *counted)
{
    __shared__ float sums[THREADS];
    __shared__ int counts[THREADS];
    sums[threadIdx.x] = *sum;
    counts[threadIdx.x] = *counted;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
            counts[threadIdx.x] += counts[threadIdx.x + half];
        }
        __syncthreads();
    }
    *sum = sums[0];
    *counted = counts[0];
}

/* A thread a row; every block leaves the sum of its losses. */
__global__ void row_kernel(const __nv_bfloat16 *logits, const int64_t *labels, const Pair *pair, float *row_loss,
                           float *lse, float *sums, int *counts, int64_t rows, int64_t parts, int64_t pitch,
                           int64_t ignore_index)
{
    const int64_t r = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    float value = 0;
    int counted = 0;
    if (r < rows) {
        const int64_t label = labels[r];
        Pair row = pair[r * parts];
        for (int64_t i = 1; i < parts; i++)
            row = merge(row, pair[r * parts + i]);
        const float log_sum = row.max == -INFINITY ? NAN : logf(row.sum);
        counted = label != ignore_index;
        if (counted)
            value = log_sum - (__bfloat162float(logits[r * pitch + label]) - row.max);
        lse[r] = row.max + log_sum;
        row_loss[r] = value;
    }
    block_sum(&value, &counted);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = value;
        counts[blockIdx.x] = counted;
    }
}

__global__ void mean_kernel(const float *sums, const int *counts, float *loss, int blocks)
{
    float sum = 0;
    int counted = 0;
    for (int b = threadIdx.x; b < blocks; b += THREADS) {
        sum += sums[b];
        counted += counts[b];
    }
    block_sum(&sum, &counted);
    if (threadIdx.x == 0)
        loss[0] = sum / (float)counted;
}

static int64_t parts_of(int64_t rows, int64_t vocab)
{
    const int64_t wanted = (BLOCKS + rows - 1) / rows, most = (vocab + LEAST - 1) / LEAST;
    return wanted < most ? wanted : most;
}

/* logits begins at a multiple of 16 bytes, its rows, pitch apart, at any element. */
extern "C" int cross_entropy(const __nv_bfloat16 *logits, const int64_t *labels, float *loss, float *row_loss,
                             float *lse, int64_t rows, int64_t vocab, int64_t pitch, int64_t ignore_index,
                             cudaStream_t stream)
{
    const int64_t parts = parts_of(rows, vocab), count = rows * parts;
    const int64_t width = ((vocab + parts - 1) / parts + VECTOR - 1) / VECTOR * VECTOR;
    const int blocks = (int)((rows + THREADS - 1) / THREADS);
    const size_t pairs = (size_t)count * sizeof(Pair);
    char *memory;
    if (cudaMallocAsync(&memory, pairs + (size_t)blocks * (sizeof(float) + sizeof(int)), stream) != cudaSuccess)
        return 1;
    Pair *pair = (Pair *)memory;
    float *sums = (float *)(memory + pairs);
    int *counts = (int *)(sums + blocks);
    if (vocab <= SHORT || (vocab <= MEDIUM && rows >= MANY))
        part_kernel<32><<<(unsigned)((count + THREADS / 32 - 1) / (THREADS / 32)), THREADS, 0, stream>>>(
            logits, pair, count, parts, width, vocab, pitch);
    else
        part_kernel<THREADS><<<(unsigned)count, THREADS, 0, stream>>>(logits, pair, count, parts, width, vocab, pitch);
    row_kernel<<<blocks, THREADS, 0, stream>>>(logits, labels, pair, row_loss, lse, sums, counts, rows, parts, pitch,
                                               ignore_index);
    mean_kernel<<<1, THREADS, 0, stream>>>(sums, counts, loss, blocks);
    cudaFreeAsync(memory, stream);
    return (int)cudaGetLastError();
}
