// problem: topk
// verdict: general
// construction: each block holds a chunk of a row in registers and keeps its k best, found by radix
//   selection; rounds of that until one chunk holds what is left of a row, which is then sorted

#include <cstdint>
#include <cuda_runtime.h>

constexpr int SMALL = 4096, MEDIUM = 8192, LARGE = 16384; /* keys a chunk */
constexpr int MAX_K = 4096, MIN_ROOM = 256;     /* keys that the last round may sort: at least */
constexpr int COLUMN_BITS = 20, KEY_BITS = 52;  /* n <= 2^20; a key is rank << 20 | column */
constexpr int DIGIT_BITS = 11, BINS = 1 << DIGIT_BITS;
constexpr int FEW_BLOCKS = 264;                 /* two for each of an H100's 132 processors */
constexpr int64_t WORK_KEYS = (int64_t)1 << 27; /* 1 GiB */
constexpr uint64_t NONE = ~(uint64_t)0;
constexpr unsigned ALL = 0xffffffffu;

/* The smaller the rank, the larger the float; +0 comes before -0, as good an order as any. On bits
 * the function is its own inverse. */
static __device__ uint32_t rank_of(uint32_t bits)
{
    return bits >> 31 ? bits : bits ^ 0x7fffffffu;
}

static __device__ uint64_t load_key(const float *x, int64_t at, int64_t column)
{
    return (uint64_t)rank_of(__float_as_uint(x[at])) << COLUMN_BITS | (uint64_t)column;
}

static __device__ uint64_t load_key(const uint64_t *keys, int64_t at, int64_t)
{
    return keys[at];
}

/* The bin of the want-th key, the keys in bins before it, and those in it. */
struct Choice {
    int bin, before, inside;
};

/* Bins hold at least `want` keys, want >= 1. Every thread scans a few neighbouring bins. */
template <int THREADS>
__device__ Choice choose_bin(const int *bins, int want)
{
    constexpr int EACH = BINS / THREADS;
    __shared__ int totals[THREADS / 32];
    __shared__ Choice choice;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int own[EACH], sum = 0;
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        own[e] = bins[threadIdx.x * EACH + e];
        sum += own[e];
    }
    int before = sum; /* at first the inclusive sum over the warp */
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(ALL, before, step);
        before += lane >= step ? other : 0;
    }
    if (lane == 31)
        totals[warp] = before;
    __syncthreads();
    before += __reduce_add_sync(ALL, lane < warp ? totals[lane] : 0) - sum;
    if (before < want && want <= before + sum) { /* one thread only */
        int e = 0;
#pragma unroll
        for (int i = 0; i + 1 < EACH; ++i) {
            if (e == i && want > before + own[i]) {
                before += own[i];
                e = i + 1;
            }
        }
        choice = {(int)threadIdx.x * EACH + e, before, bins[threadIdx.x * EACH + e]};
    }
    __syncthreads();
    return choice;
}

/* Finds a limit up to which there are at least `want` and at most `room` of the block's `held`
 * keys. All keys differ, so the last digit decides at the latest. NONE has no prefix of a key. */
template <int THREADS, int ITEMS>
__device__ uint64_t select_limit(const uint64_t (&key)[ITEMS], int held, int want, int room)
{
    __shared__ int bins[BINS];
    uint64_t prefix = 0;
    int low = KEY_BITS, before = 0, inside = held; /* bits from `low` up are decided */
    while (before + inside > room) {
        const int width = min(DIGIT_BITS, low);
        low -= width;
        for (int b = threadIdx.x; b < BINS; b += THREADS)
            bins[b] = 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ITEMS; ++i)
            if (key[i] >> low >> width == prefix)
                atomicAdd(&bins[(int)(key[i] >> low) & ((1 << width) - 1)], 1);
        __syncthreads();
        const Choice choice = choose_bin<THREADS>(bins, want - before);
        prefix = prefix << width | (uint64_t)choice.bin;
        before += choice.before;
        inside = choice.inside;
    }
    return ((prefix + 1) << low) - 1;
}

/* Copies the keys up to the limit, in any order. *found is 0 for all threads. */
template <int ITEMS>
__device__ void gather(const uint64_t (&key)[ITEMS], uint64_t limit, uint64_t *out, int *found)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const bool taken = key[i] <= limit;
        const unsigned lanes = __ballot_sync(ALL, taken);
        if (lanes == 0)
            continue;
        int slot = 0;
        if (lane == 0)
            slot = atomicAdd(found, __popc(lanes));
        slot = __shfl_sync(ALL, slot, 0) + __popc(lanes & ((1u << lane) - 1));
        if (taken)
            out[slot] = key[i];
    }
}

/* Bitonic, ascending; size is a power of two. Steps up to 32 stay within the 64 keys of a warp's
 * 32 pairs, so that a barrier of the warp will do. */
template <int THREADS>
__device__ void sort_keys(uint64_t *key, int size)
{
    int last = 64; /* the step before */
    for (int run = 2; run <= size; run *= 2) {
        for (int step = run / 2; step > 0; last = step, step /= 2) {
            if (step > 32 || last > 32)
                __syncthreads();
            else
                __syncwarp();
            for (int t = threadIdx.x; t < size / 2; t += THREADS) {
                const int first = 2 * t - (t & (step - 1)), second = first + step;
                const uint64_t a = key[first], b = key[second];
                if ((a > b) == ((first & run) == 0)) {
                    key[first] = b;
                    key[second] = a;
                }
            }
        }
    }
    __syncthreads();
}

/* One round. Input is [rows, length], out [rows, left]: of each chunk the k best, or all if it has
 * fewer. The last round has one chunk a row; up to `room` keys are sorted, the k first stored. */
struct Round {
    int64_t length, left;
    int chunks, k, room;
    uint64_t *out;
    float *values;
    int64_t *indices;
};

template <int THREADS, int ITEMS>
__device__ void store_sorted(const uint64_t (&key)[ITEMS], uint64_t limit, const Round &round,
                             int *found)
{
    __shared__ uint64_t sorted[MAX_K];
    gather(key, limit, sorted, found);
    __syncthreads();
    const int count = *found;
    int size = 1;
    while (size < count)
        size *= 2;
    for (int i = count + threadIdx.x; i < size; i += THREADS)
        sorted[i] = NONE;
    sort_keys<THREADS>(sorted, size);
    const int64_t at = (int64_t)blockIdx.x * round.k;
    for (int j = threadIdx.x; j < round.k; j += THREADS) {
        round.values[at + j] = __uint_as_float(rank_of((uint32_t)(sorted[j] >> COLUMN_BITS)));
        round.indices[at + j] = (int64_t)(sorted[j] & ((1u << COLUMN_BITS) - 1));
    }
}

template <class In, int THREADS, int ITEMS, bool LAST>
__global__ void __launch_bounds__(THREADS, 1024 / THREADS)
select_chunk(const In *in, const Round round)
{
    constexpr int CHUNK = THREADS * ITEMS;
    __shared__ int found;
    const int64_t row = blockIdx.x / round.chunks, chunk = blockIdx.x % round.chunks;
    const int64_t from = chunk * CHUNK, start = row * round.length;
    const int held = (int)min((int64_t)CHUNK, round.length - from), want = min(round.k, held);
    uint64_t key[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const int at = i * THREADS + threadIdx.x;
        key[i] = at < held ? load_key(in, start + from + at, from + at) : NONE;
    }
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    const uint64_t limit = select_limit<THREADS>(key, held, want, LAST ? round.room : want);
    if (LAST)
        store_sorted<THREADS>(key, limit, round, &found);
    else
        gather(key, limit, round.out + row * round.left + chunk * round.k, &found);
}

struct Job {
    int64_t rows, all_rows; /* of this batch, of the call */
    int k, room;
    float *values;
    int64_t *indices;
    cudaStream_t stream;
};

/* The size of the chunks, the same for every batch. Short ones share few rows out among more
 * blocks. For more than one chunk k is a quarter of it at most: every round leaves less. */
static int chunk_for(const Job &job, int64_t length)
{
    if (length <= LARGE)
        return length <= SMALL ? SMALL : length <= MEDIUM ? MEDIUM : LARGE;
    if (job.k <= 256 && job.all_rows * length <= (int64_t)FEW_BLOCKS * SMALL)
        return SMALL;
    return job.k <= 1024 ? MEDIUM : LARGE;
}

/* Keys that a round leaves of a row. */
static int64_t left_of(const Job &job, int64_t length)
{
    const int64_t chunk = chunk_for(job, length), rest = length % chunk;
    return length / chunk * job.k + (rest < job.k ? rest : job.k);
}

template <int THREADS, int ITEMS, class In>
static void launch(const Job &job, const In *in, uint64_t *out, int64_t length)
{
    const int chunks = (int)((length + THREADS * ITEMS - 1) / (THREADS * ITEMS));
    const unsigned blocks = (unsigned)(job.rows * chunks);
    const Round round = {length,   left_of(job, length), chunks,     job.k,
                         job.room, out,                  job.values, job.indices};
    if (chunks == 1)
        select_chunk<In, THREADS, ITEMS, true><<<blocks, THREADS, 0, job.stream>>>(in, round);
    else
        select_chunk<In, THREADS, ITEMS, false><<<blocks, THREADS, 0, job.stream>>>(in, round);
}

template <class In>
static void run_round(const Job &job, const In *in, uint64_t *out, int64_t length)
{
    const int chunk = chunk_for(job, length);
    if (chunk == SMALL)
        launch<512, SMALL / 512>(job, in, out, length);
    else if (chunk == MEDIUM)
        launch<512, MEDIUM / 512>(job, in, out, length);
    else
        launch<1024, LARGE / 1024>(job, in, out, length);
}

/* n > LARGE; `out` and `spare` have room for what the first round leaves. */
static void run_batch(const Job &job, const float *x, int64_t n, uint64_t *out, uint64_t *spare)
{
    run_round(job, x, out, n);
    for (int64_t length = left_of(job, n);; length = left_of(job, length)) {
        run_round(job, out, spare, length);
        if (length <= LARGE)
            return;
        uint64_t *written = spare;
        spare = out;
        out = written;
    }
}

/* x is [rows, n]; values and indices are [rows, k], best first */
extern "C" int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n,
                    int64_t k, cudaStream_t stream)
{
    Job job = {rows, rows, (int)k, MIN_ROOM, values, indices, stream};
    while (job.room < k)
        job.room *= 2;
    if (n <= LARGE) {
        run_round(job, x, nullptr, n);
        return (int)cudaGetLastError();
    }
    const int64_t left = left_of(job, n), fit = WORK_KEYS / (2 * left);
    const int64_t batch = rows < fit ? rows : fit;
    uint64_t *work;
    cudaError_t status = cudaMallocAsync((void **)&work, 2 * batch * left * sizeof *work, stream);
    if (status != cudaSuccess)
        return (int)status;
    for (int64_t row = 0; row < rows; row += batch) {
        job.rows = rows - row < batch ? rows - row : batch;
        job.values = values + row * k;
        job.indices = indices + row * k;
        run_batch(job, x + row * n, n, work, work + batch * left);
    }
    status = cudaGetLastError();
    cudaFreeAsync(work, stream);
    return (int)status;
}
