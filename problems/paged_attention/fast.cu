// problem: paged_attention
// verdict: general
// construction: flash decoding split over the tokens, the query heads of a kv head padded to the 16
//   rows of mma.m16n8k16, keys and values straight from global memory into fragments

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int WARPS = 4, THREADS = 32 * WARPS, STEP = 32; // tokens of a warp at a time
constexpr unsigned ALL = 0xffffffff;

struct Args {
    const bf16 *query, *cache;
    const int *table, *lens;
    bf16 *out;
    float *acc;    // [batch * heads, splits, D]: sums of the splits, scaled by exp2(-top)
    float2 *state; // [batch * heads, splits]: top (in units of log2) and sum of a split
    int kv_heads, group, page_size, splits;
    int64_t pages_per_seq;
};

// In a fragment lane l is (g, c) = (l / 4, l % 4). Registers of mma.m16n8k16 hold
//   A[row][k]: a0 (g, 2c..), a1 (g + 8, 2c..), a2 (g, 2c + 8..), a3 (g + 8, 2c + 8..)
//   B[k][n]:   b0 (2c.., g), b1 (2c + 8.., g)
//   C[row][n]: c0, c1 (g, 2c..), c2, c3 (g + 8, 2c..)
// where ".." is a pair of neighbours, the first in the low half.
__device__ void mma(float (&c)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,
                    uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// A vector of type V, zeros where there is no token.
template <typename V> __device__ V load(const bf16 *p, bool exists)
{
    V zero = {};
    return exists ? __ldg(reinterpret_cast<const V *>(p)) : zero;
}

// Which d the column n of an output tile stands for: a lane loads 8 neighbouring values (16 bytes)
// of a token and uses them as its column of 8 tiles; rests of 32 and 16 likewise with 4 and 2.
template <int D> __device__ int tile_dim(int tile, int n)
{
    constexpr int FULL = D / 64 * 8, HALF = FULL + D % 64 / 32 * 4;
    if (tile < FULL)
        return tile / 8 * 64 + n * 8 + tile % 8;
    if (tile < HALF)
        return D / 64 * 64 + n * 4 + tile - FULL;
    return D / 32 * 32 + n * 2 + tile - HALF;
}

// The query heads as A fragments in shared memory, zeros for rows past the group. The order of the
// sum over d is free: lane c takes d = 32 j + 8 c + {0..7} of rows g and g + 8 for two MMAs, and
// d = 32 (D / 32) + 4 c + {0..3} of a rest of 16 for one; keys follow the same order.
template <int D> struct Queries {
    uint4 full[D / 32][2][32];
    uint2 rest[2][32];
};

template <int D> __device__ void stage_queries(const bf16 *query, int group, Queries<D> *q)
{
    int lane = threadIdx.x % 32, g = lane / 4, c = lane % 4;
    for (int i = threadIdx.x / 32; i < 2 * (D / 32 + 1); i += WARPS) {
        int j = i / 2, row = g + i % 2 * 8;
        if (j < D / 32)
            q->full[j][i % 2][lane] = load<uint4>(query + row * D + 32 * j + 8 * c, row < group);
        else if (D % 32)
            q->rest[i % 2][lane] = load<uint2>(query + row * D + 32 * j + 4 * c, row < group);
    }
}

// Scores of 8 tokens for 16 heads; `key` is the row of token g of the eight.
template <int D>
__device__ void score_tile(float (&s)[4], const Queries<D> *q, const bf16 *key, bool exists)
{
    int lane = threadIdx.x % 32, c = lane % 4;
#pragma unroll
    for (int j = 0; j < D / 32; j++) {
        uint4 k = load<uint4>(key + 32 * j + 8 * c, exists);
        uint4 low = q->full[j][0][lane], high = q->full[j][1][lane];
        mma(s, low.x, high.x, low.y, high.y, k.x, k.y);
        mma(s, low.z, high.z, low.w, high.w, k.z, k.w);
    }
    if (D % 32) {
        uint2 k = load<uint2>(key + D / 32 * 32 + 4 * c, exists);
        uint2 low = q->rest[0][lane], high = q->rest[1][lane];
        mma(s, low.x, high.x, low.y, high.y, k.x, k.y);
    }
}

// o += p v over 16 tokens and the columns of one vector V: its element 2 i is the lane's column of
// tile o[2 i], 2 i + 1 of the next. v[r] points into the value row of token 2c + {0, 1, 8, 9}.
template <typename V>
__device__ void add_tiles(float (*o)[4], const uint32_t (&p)[4], const bf16 *const (&v)[4], int d,
                          const bool (&exists)[4])
{
    constexpr int WORDS = sizeof(V) / 4;
    V x[4];
#pragma unroll
    for (int r = 0; r < 4; r++)
        x[r] = load<V>(v[r] + d, exists[r]);
    const uint32_t *w = reinterpret_cast<const uint32_t *>(x);
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        uint32_t w0 = w[i], w1 = w[WORDS + i], w8 = w[2 * WORDS + i], w9 = w[3 * WORDS + i];
        mma(o[2 * i], p[0], p[1], p[2], p[3], __byte_perm(w0, w1, 0x5410),
            __byte_perm(w8, w9, 0x5410));
        mma(o[2 * i + 1], p[0], p[1], p[2], p[3], __byte_perm(w0, w1, 0x7632),
            __byte_perm(w8, w9, 0x7632));
    }
}

template <int D>
__device__ void add_values(float (&o)[D / 8][4], const uint32_t (&p)[4], const bf16 *const (&v)[4],
                           const bool (&exists)[4])
{
    int g = threadIdx.x % 32 / 4;
    constexpr int FULL = D / 64 * 8, HALF = FULL + D % 64 / 32 * 4;
#pragma unroll
    for (int i = 0; i < D / 64; i++)
        add_tiles<uint4>(o + 8 * i, p, v, 64 * i + 8 * g, exists);
    if constexpr (D % 64 >= 32)
        add_tiles<uint2>(o + FULL, p, v, D / 64 * 64 + 4 * g, exists);
    if constexpr (D % 32 != 0)
        add_tiles<unsigned>(o + HALF, p, v, D / 32 * 32 + 2 * g, exists);
}

// Online softmax state of a warp: index 0 is head row g, index 1 row g + 8.
template <int D> struct State {
    float top[2], sum[2], o[D / 8][4];
};

// Replaces scores by probabilities rounded to bf16 (the sum is of the rounded ones), packed as A
// fragments of two sets of 16 tokens, and rescales the state. `left` tokens exist, at least one.
template <int D>
__device__ void soften(float (&s)[4][4], uint32_t (&p)[2][4], State<D> *st, int left, float scale)
{
    int c = threadIdx.x % 4;
    float shrink[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float top = st->top[r];
        for (int i = 0; i < 8; i++) {
            float &x = s[i / 2][2 * r + i % 2];
            x = i / 2 * 8 + 2 * c + i % 2 < left ? x * scale : -INFINITY;
            top = fmaxf(top, x);
        }
        top = fmaxf(top, __shfl_xor_sync(ALL, top, 1));
        top = fmaxf(top, __shfl_xor_sync(ALL, top, 2));
        shrink[r] = exp2f(st->top[r] - top);
        st->top[r] = top;
        st->sum[r] *= shrink[r];
        for (int i = 0; i < 4; i++) {
            __nv_bfloat162 pair = __floats2bfloat162_rn(exp2f(s[i][2 * r] - top),
                                                        exp2f(s[i][2 * r + 1] - top));
            st->sum[r] += __low2float(pair) + __high2float(pair);
            p[i / 2][i % 2 * 2 + r] = *reinterpret_cast<uint32_t *>(&pair);
        }
    }
    if (__any_sync(ALL, shrink[0] != 1 || shrink[1] != 1)) {
        for (int i = 0; i < D / 8; i++) {
            for (int r = 0; r < 4; r++)
                st->o[i][r] *= shrink[r / 2];
        }
    }
}

// Offset of token t in the cache, or -1: the table is not read past the end of the sequence.
template <int D> __device__ int64_t token_offset(const Args &a, const int *table, int t, int end)
{
    if (t >= end)
        return -1;
    unsigned page = (unsigned)t / (unsigned)a.page_size;
    int64_t slot = (int64_t)__ldg(table + page) * a.page_size + (t - page * a.page_size);
    return slot * a.kv_heads * (2 * D);
}

// The tokens start + 32 warp + {0..31}, and every 128 on, below end.
template <int D>
__device__ void fold_tokens(const Args &a, const bf16 *cache, const int *table, int start, int end,
                            const Queries<D> *q, State<D> *st)
{
    int lane = threadIdx.x % 32, g = lane / 4, c = lane % 4;
    float scale = 1.4426950408889634f / sqrtf((float)D); // scores in units of log2
    int first = start + threadIdx.x / 32 * STEP;
    int64_t next = token_offset<D>(a, table, first + lane, end);
    for (; first < end; first += THREADS) {
        int64_t mine = next; // of token first + lane; the table is read one step ahead
        next = token_offset<D>(a, table, first + THREADS + lane, end);
        float s[4][4] = {};
        uint32_t p[2][4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int64_t at = __shfl_sync(ALL, mine, 8 * i + g);
            score_tile<D>(s[i], q, cache + at, at >= 0);
        }
        soften<D>(s, p, st, end - first, scale);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const bf16 *v[4];
            bool exists[4];
            for (int r = 0; r < 4; r++) {
                int64_t at = __shfl_sync(ALL, mine, 16 * half + 2 * c + r / 2 * 8 + r % 2);
                v[r] = cache + at + D;
                exists[r] = at >= 0;
            }
            add_values<D>(st->o, p[half], v, exists);
        }
    }
    for (int r = 0; r < 2; r++) {
        st->sum[r] += __shfl_xor_sync(ALL, st->sum[r], 1);
        st->sum[r] += __shfl_xor_sync(ALL, st->sum[r], 2);
    }
}

// Weight of a part with maximum `top` in a whole with maximum `best`; 0 for one without tokens.
__device__ float part_weight(float top, float best)
{
    return top == -INFINITY ? 0 : exp2f(top - best);
}

// Adds up the warps in a fixed order; a.splits == 1 finishes the output.
template <int D>
__device__ void merge_warps(const Args &a, const State<D> &st, float2 (*state)[16], float (*sum)[D],
                            int64_t first_head, int split)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, c = lane % 4;
    if (c == 0) {
        state[warp][g] = make_float2(st.top[0], st.sum[0]);
        state[warp][g + 8] = make_float2(st.top[1], st.sum[1]);
    }
    for (int w = 0; w < WARPS; w++) {
        __syncthreads(); // also makes `state` complete, and ends the last turn
        if (w != warp)
            continue;
        for (int r = 0; r < 4; r++) {
            int row = g + r / 2 * 8;
            float best = fmaxf(fmaxf(state[0][row].x, state[1][row].x),
                               fmaxf(state[2][row].x, state[3][row].x));
            float weight = part_weight(st.top[r / 2], best);
            for (int i = 0; i < D / 8; i++) {
                float *x = &sum[row][tile_dim<D>(i, 2 * c + r % 2)];
                *x = weight * st.o[i][r] + (w ? *x : 0);
            }
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < a.group * D; i += THREADS) {
        int row = i / D;
        int64_t head = first_head + row;
        float best = -INFINITY, total = 0;
        for (int w = 0; w < WARPS; w++)
            best = fmaxf(best, state[w][row].x);
        for (int w = 0; w < WARPS; w++)
            total += part_weight(state[w][row].x, best) * state[w][row].y;
        if (a.splits == 1) {
            a.out[head * D + i % D] = __float2bfloat16(sum[row][i % D] / total);
            continue;
        }
        a.acc[(head * a.splits + split) * D + i % D] = sum[row][i % D];
        if (i % D == 0)
            a.state[head * a.splits + split] = make_float2(best, total);
    }
}

// One block per (sequence, kv head, split).
template <int D> __global__ void __launch_bounds__(THREADS, D <= 128 ? 3 : 2) attend(Args a)
{
    __shared__ Queries<D> q;
    __shared__ float sum[16][D];
    __shared__ float2 state[WARPS][16];
    int split = blockIdx.x % a.splits;
    int64_t task = blockIdx.x / a.splits, b = task / a.kv_heads, kv_head = task % a.kv_heads;
    int64_t first_head = task * a.group;
    int len = a.lens[b], chunk = (len + a.splits - 1) / a.splits;
    chunk = (chunk + THREADS - 1) / THREADS * THREADS;
    int64_t start = (int64_t)split * chunk;
    if (start >= len) { // a split without tokens says so; the merge leaves its sums alone
        if (threadIdx.x < a.group)
            a.state[(first_head + threadIdx.x) * a.splits + split] = make_float2(-INFINITY, 0);
        return;
    }
    stage_queries<D>(a.query + first_head * D, a.group, &q);
    __syncthreads();
    State<D> st = {{-INFINITY, -INFINITY}, {0, 0}, {}};
    fold_tokens<D>(a, a.cache + kv_head * 2 * D, a.table + b * a.pages_per_seq, (int)start,
                   min(len, (int)start + chunk), &q, &st);
    merge_warps<D>(a, st, state, sum, first_head, split);
}

// One block of D threads per head.
template <int D> __global__ void merge_splits(Args a)
{
    int64_t head = blockIdx.x;
    const float2 *state = a.state + head * a.splits;
    float best = -INFINITY, total = 0, acc = 0;
    for (int i = 0; i < a.splits; i++)
        best = fmaxf(best, state[i].x);
    for (int i = 0; i < a.splits; i++) {
        float weight = part_weight(state[i].x, best);
        if (state[i].x == -INFINITY)
            continue;
        total += weight * state[i].y;
        acc += weight * a.acc[(head * a.splits + i) * D + threadIdx.x];
    }
    a.out[head * D + threadIdx.x] = __float2bfloat16(acc / total);
}

// Enough splits for two waves of blocks and for at most 2048 tokens each, but no fewer than 128
// tokens and no more than 2^20 partial results.
int choose_splits(int64_t tasks, int64_t heads, int64_t max_len)
{
    int device = 0, units = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    int64_t splits = (6 * units + tasks - 1) / tasks, longest = (max_len + 2047) / 2048;
    int64_t most = (max_len + THREADS - 1) / THREADS, room = (1 << 20) / heads;
    splits = splits > longest ? splits : longest;
    splits = splits < most ? splits : most;
    splits = splits < room ? splits : room;
    return splits > 1 ? (int)splits : 1;
}

// A pool of our own keeps its memory from call to call; the default one returns it to the system.
cudaError_t workspace_pool(cudaMemPool_t *pool)
{
    static cudaMemPool_t pools[64];
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess && !pools[device % 64]) {
        cudaMemPoolProps props = {};
        uint64_t keep = UINT64_MAX;
        props.allocType = cudaMemAllocationTypePinned;
        props.location.type = cudaMemLocationTypeDevice;
        props.location.id = device;
        error = cudaMemPoolCreate(&pools[device % 64], &props);
        if (error == cudaSuccess)
            error = cudaMemPoolSetAttribute(pools[device % 64], cudaMemPoolAttrReleaseThreshold,
                                            &keep);
    }
    *pool = pools[device % 64];
    return error;
}

template <int D> int launch(Args a, int64_t tasks, int64_t heads, cudaStream_t stream)
{
    cudaMemPool_t pool;
    void *space = nullptr;
    size_t parts = (size_t)(heads * a.splits);
    if (a.splits > 1) {
        cudaError_t error = workspace_pool(&pool);
        if (error == cudaSuccess)
            error = cudaMallocFromPoolAsync(&space, parts * (D * 4 + 8), pool, stream);
        if (error != cudaSuccess)
            return (int)error;
        a.acc = (float *)space;
        a.state = (float2 *)(a.acc + parts * D);
    }
    attend<D><<<(unsigned)(tasks * a.splits), THREADS, 0, stream>>>(a);
    if (a.splits > 1) {
        merge_splits<D><<<(unsigned)heads, D, 0, stream>>>(a);
        cudaFreeAsync(space, stream);
    }
    return (int)cudaGetLastError();
}

} // namespace

extern "C" int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                               const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                               int64_t kv_heads, int64_t head_dim, int64_t page_size,
                               int64_t pages, int64_t pages_per_seq, cudaStream_t stream)
{
    int64_t tasks = batch * kv_heads, rows = batch * heads;
    Args a = {query, kv_cache, block_table, seq_lens, out, nullptr, nullptr, (int)kv_heads,
              (int)(heads / kv_heads), (int)page_size,
              choose_splits(tasks, rows, pages_per_seq * page_size), pages_per_seq};
    switch (head_dim) {
    case 64: return launch<64>(a, tasks, rows, stream);
    case 80: return launch<80>(a, tasks, rows, stream);
    case 96: return launch<96>(a, tasks, rows, stream);
    case 112: return launch<112>(a, tasks, rows, stream);
    case 128: return launch<128>(a, tasks, rows, stream);
    case 256: return launch<256>(a, tasks, rows, stream);
    }
    return 1;
}
