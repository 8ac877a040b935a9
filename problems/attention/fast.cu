// problem: attention
// verdict: general
// construction: flash attention with mma.m16n8k16: the query heads of a kv head packed into the rows of a tile, keys and
//   values by cp.async into shared memory, each loaded while the other is multiplied

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

struct Args {
    const bf16 *q, *k, *v;
    const int32_t *cu_q, *cu_kv;
    bf16 *out;
    float *lse;
    int batch, heads, kv_heads, group;
    float scale;
    bool causal;
};

// A block works on ROWS rows, a row being a query of a head: WARPS warps have SETS times 16 of them each. KEYS keys at
// a time. Rows in shared memory are 8 elements longer than D: eight of them start in different banks.
template <int D_, int WARPS_, int SETS_, int KEYS_> struct Shape {
    static constexpr int D = D_, WARPS = WARPS_, SETS = SETS_, KEYS = KEYS_;
    static constexpr int THREADS = 32 * WARPS, ROWS = 16 * SETS * WARPS, LINE = D + 8;
    static constexpr int BLOCKS = D <= 128 ? 2 : 1; // that a multiprocessor has registers for
    static constexpr size_t BYTES = (size_t)(ROWS + 2 * KEYS) * LINE * sizeof(bf16);
};

// The part of a sequence that a block processes: rows from `first` on; the sequence has `rows` rows and `keys` keys.
struct Task {
    int64_t query, key; // the sequence's first ones
    int first, rows, queries, keys;
};

// --- instructions ---

// In a fragment lane l is (g, c) = (l / 4, l % 4). Registers of mma.m16n8k16 hold
//   A[row][k]: a0 (g, 2c..), a1 (g + 8, 2c..), a2 (g, 2c + 8..), a3 (g + 8, 2c + 8..)
//   B[k][n]:   b0 (2c.., g), b1 (2c + 8.., g)
//   C[row][n]: c0, c1 (g, 2c..), c2, c3 (g + 8, 2c..)
// where ".." is a pair of neighbours, the first in the low half.
__device__ __forceinline__ void mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ uint32_t shared_address(const bf16 *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

// Four 8 x 8 matrices, a row of each from every lane: those of lanes 0-7 are the first matrix's.
__device__ __forceinline__ void load_matrices(uint32_t (&x)[4], const bf16 *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ __forceinline__ void load_transposed(uint32_t (&x)[4], const bf16 *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(shared_address(row))
                 : "memory");
}

// 16 bytes, zeros where nothing exists.
__device__ __forceinline__ void copy_async(bf16 *to, const bf16 *from, bool exists)
{
    const int bytes = exists ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ void copies_end()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// All but the last `left` groups have arrived, for this thread.
template <int left> __device__ __forceinline__ void copies_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}

__device__ __forceinline__ float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ uint32_t pack(float low, float high)
{
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const uint32_t *>(&pair);
}

// --- tiles ---

// Row r of a sequence is query r / group of head r % group.
__device__ __forceinline__ int64_t row_of(const Args &a, const Task &t, int kv_head, int r)
{
    return (t.query + r / a.group) * a.heads + kv_head * a.group + r % a.group;
}

template <typename S> __device__ void copy_queries(const Args &a, const Task &t, int kv_head, bf16 *tile)
{
    constexpr int VECTORS = S::D / 8;
    for (int i = threadIdx.x; i < S::ROWS * VECTORS; i += S::THREADS) {
        const int r = i / VECTORS, d = i % VECTORS * 8;
        const bool exists = t.first + r < t.rows;
        const int64_t row = row_of(a, t, kv_head, exists ? t.first + r : 0);
        copy_async(tile + r * S::LINE + d, a.q + row * S::D + d, exists);
    }
}

// Keys or values `start`.. of the sequence; `from` is its first one's, of the kv head.
template <typename S>
__device__ void copy_keys(const Args &a, const Task &t, const bf16 *from, int start, bf16 *tile)
{
    constexpr int VECTORS = S::D / 8;
    const int64_t step = (int64_t)a.kv_heads * S::D;
#pragma unroll 4
    for (int i = threadIdx.x; i < S::KEYS * VECTORS; i += S::THREADS) {
        const int r = i / VECTORS, d = i % VECTORS * 8;
        const bool exists = start + r < t.keys;
        copy_async(tile + r * S::LINE + d, from + (exists ? start + r : 0) * step + d, exists);
    }
}

// --- a warp's rows ---

// Index r of a set: 0 is row g, 1 row g + 8. `top` counts scores before they are scaled.
template <typename S> struct State {
    float o[S::SETS][S::D / 8][4];
    float top[S::SETS][2], sum[S::SETS][2];
    int sees[S::SETS][2]; // keys
};

template <typename S>
__device__ __forceinline__ void multiply_keys(float (&s)[S::SETS][S::KEYS / 8][4], const bf16 *queries, const bf16 *keys)
{
    const int lane = threadIdx.x % 32;
    const bf16 *q = queries + (lane % 16) * S::LINE + lane / 16 * 8;
    const bf16 *k = keys + (lane % 8 + lane / 16 * 8) * S::LINE + lane / 8 % 2 * 8;
#pragma unroll
    for (int m = 0; m < S::SETS; m++)
#pragma unroll
        for (int i = 0; i < S::KEYS / 8; i++)
            s[m][i][0] = s[m][i][1] = s[m][i][2] = s[m][i][3] = 0;
#pragma unroll
    for (int d = 0; d < S::D; d += 16) {
        uint32_t x[S::SETS][4];
#pragma unroll
        for (int m = 0; m < S::SETS; m++)
            load_matrices(x[m], q + m * 16 * S::LINE + d);
#pragma unroll
        for (int i = 0; i < S::KEYS / 16; i++) {
            uint32_t y[4];
            load_matrices(y, k + i * 16 * S::LINE + d);
#pragma unroll
            for (int m = 0; m < S::SETS; m++) {
                mma(s[m][2 * i], x[m], y[0], y[1]);
                mma(s[m][2 * i + 1], x[m], y[2], y[3]);
            }
        }
    }
}

// Keys from `start` on that a row does not see have no weight.
template <typename S>
__device__ __forceinline__ void hide_keys(float (&s)[S::SETS][S::KEYS / 8][4], const State<S> &st, int start)
{
    const int c = threadIdx.x % 4;
#pragma unroll
    for (int m = 0; m < S::SETS; m++)
#pragma unroll
        for (int i = 0; i < S::KEYS / 8; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                if (start + 8 * i + 2 * c + j % 2 >= st.sees[m][j / 2])
                    s[m][i][j] = -INFINITY;
}

// Scores become exponentials, of which the sum takes what is not rounded; what was summed before shrinks to the new
// maximum. Every row sees the first key of the first tile, so no maximum stays infinite.
template <typename S>
__device__ __forceinline__ void soften(float (&s)[S::SETS][S::KEYS / 8][4], State<S> &st, float scale)
{
#pragma unroll
    for (int m = 0; m < S::SETS; m++)
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float top = st.top[m][r];
#pragma unroll
            for (int i = 0; i < S::KEYS / 8; i++)
                top = fmaxf(top, fmaxf(s[m][i][2 * r], s[m][i][2 * r + 1]));
            top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, 1));
            top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, 2));
            const float shrink = exp2_fast((st.top[m][r] - top) * scale), offset = top * scale;
            float sum = 0;
#pragma unroll
            for (int i = 0; i < S::KEYS / 8; i++)
#pragma unroll
                for (int j = 2 * r; j < 2 * r + 2; j++) {
                    s[m][i][j] = exp2_fast(fmaf(s[m][i][j], scale, -offset));
                    sum += s[m][i][j];
                }
            st.top[m][r] = top;
            st.sum[m][r] = st.sum[m][r] * shrink + sum;
#pragma unroll
            for (int i = 0; i < S::D / 8; i++) {
                st.o[m][i][2 * r] *= shrink;
                st.o[m][i][2 * r + 1] *= shrink;
            }
        }
}

template <typename S>
__device__ __forceinline__ void add_values(const float (&s)[S::SETS][S::KEYS / 8][4], State<S> &st, const bf16 *values)
{
    const int lane = threadIdx.x % 32;
    const bf16 *v = values + (lane % 16) * S::LINE + lane / 16 * 8;
#pragma unroll
    for (int i = 0; i < S::KEYS / 16; i++) {
        uint32_t p[S::SETS][4];
#pragma unroll
        for (int m = 0; m < S::SETS; m++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const float *x = s[m][2 * i + j / 2];
                p[m][j] = pack(x[j % 2 * 2], x[j % 2 * 2 + 1]);
            }
#pragma unroll
        for (int d = 0; d < S::D / 16; d++) {
            uint32_t y[4];
            load_transposed(y, v + i * 16 * S::LINE + 16 * d);
#pragma unroll
            for (int m = 0; m < S::SETS; m++) {
                mma(st.o[m][2 * d], p[m], y[0], y[1]);
                mma(st.o[m][2 * d + 1], p[m], y[2], y[3]);
            }
        }
    }
}

// `tile`: the warp's own queries, which nobody needs any more, so that 16 bytes at a time can be written.
template <typename S>
__device__ void store_rows(const Args &a, const Task &t, int kv_head, int first, State<S> &st, bf16 *tile)
{
    constexpr int VECTORS = S::D / 8;
    const int lane = threadIdx.x % 32, g = lane / 4, c = lane % 4;
#pragma unroll
    for (int m = 0; m < S::SETS; m++)
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float sum = st.sum[m][r];
            sum += __shfl_xor_sync(0xffffffff, sum, 1);
            sum += __shfl_xor_sync(0xffffffff, sum, 2);
            const int at = 16 * m + 8 * r + g;
            const float inverse = 1 / sum;
#pragma unroll
            for (int i = 0; i < S::D / 8; i++)
                *reinterpret_cast<uint32_t *>(tile + at * S::LINE + 8 * i + 2 * c) =
                    pack(st.o[m][i][2 * r] * inverse, st.o[m][i][2 * r + 1] * inverse);
            if (c == 0 && first + at < t.rows)
                a.lse[row_of(a, t, kv_head, first + at)] = st.top[m][r] * a.scale + logf(sum);
        }
    __syncwarp();
    for (int i = lane; i < 16 * S::SETS * VECTORS; i += 32) {
        const int at = i / VECTORS, d = i % VECTORS * 8;
        if (first + at < t.rows)
            *reinterpret_cast<uint4 *>(a.out + row_of(a, t, kv_head, first + at) * S::D + d) =
                *reinterpret_cast<const uint4 *>(tile + at * S::LINE + d);
    }
}

// The tile-th of all tiles, counted through the sequences; false beyond the last.
template <typename S> __device__ bool find_task(const Args &a, int64_t tile, Task *t)
{
    for (int b = 0; b < a.batch; b++) {
        const int queries = a.cu_q[b + 1] - a.cu_q[b], rows = queries * a.group;
        const int64_t tiles = (rows + S::ROWS - 1) / S::ROWS;
        if (tile < tiles) {
            // the last rows of a causal sequence see the most keys: they start first
            const int first = (int)(tiles - 1 - tile) * S::ROWS;
            *t = {a.cu_q[b], a.cu_kv[b], first, rows, queries, a.cu_kv[b + 1] - a.cu_kv[b]};
            return true;
        }
        tile -= tiles;
    }
    return false;
}

template <typename S> __global__ void __launch_bounds__(S::THREADS, S::BLOCKS) attend(const Args a)
{
    extern __shared__ __align__(16) bf16 shared[];
    bf16 *queries = shared, *keys = queries + S::ROWS * S::LINE, *values = keys + S::KEYS * S::LINE;
    const int kv_head = blockIdx.y, warp_row = threadIdx.x / 32 * 16 * S::SETS, g = threadIdx.x % 32 / 4;
    Task t;
    if (!find_task<S>(a, blockIdx.x, &t))
        return;

    State<S> st;
    int end = t.keys, common = t.keys; // keys that some row sees, that all rows of the block see
    if (a.causal) {
        end = min(t.rows - 1, t.first + S::ROWS - 1) / a.group + 1 + t.keys - t.queries;
        common = t.first / a.group + 1 + t.keys - t.queries;
    }
#pragma unroll
    for (int m = 0; m < S::SETS; m++) {
#pragma unroll
        for (int i = 0; i < S::D / 8; i++)
            st.o[m][i][0] = st.o[m][i][1] = st.o[m][i][2] = st.o[m][i][3] = 0;
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int row = min(t.rows - 1, t.first + warp_row + 16 * m + 8 * r + g);
            st.sees[m][r] = a.causal ? row / a.group + 1 + t.keys - t.queries : t.keys;
            st.top[m][r] = -INFINITY;
            st.sum[m][r] = 0;
        }
    }

    const int64_t at = (t.key * a.kv_heads + kv_head) * S::D;
    copy_queries<S>(a, t, kv_head, queries);
    copy_keys<S>(a, t, a.k + at, 0, keys);
    copies_end();
    for (int start = 0; start < end; start += S::KEYS) {
        float s[S::SETS][S::KEYS / 8][4];
        copies_wait<0>();
        __syncthreads(); // the keys are there, and nobody needs the last values
        copy_keys<S>(a, t, a.v + at, start, values);
        copies_end();
        multiply_keys<S>(s, queries + warp_row * S::LINE, keys);
        if (start + S::KEYS > common)
            hide_keys<S>(s, st, start);
        soften<S>(s, st, a.scale * 1.4426950408889634f);
        copies_wait<0>();
        __syncthreads(); // the values are there, and nobody needs these keys
        if (start + S::KEYS < end)
            copy_keys<S>(a, t, a.k + at, start + S::KEYS, keys);
        copies_end();
        add_values<S>(s, st, values);
    }
    store_rows<S>(a, t, kv_head, t.first + warp_row, st, queries + warp_row * S::LINE);
}

// --- launching ---

// A sequence has one tile that is not full at the most. Blocks beyond the last tile do nothing.
template <typename S> int launch(const Args &a, int64_t total_q, cudaStream_t stream)
{
    const int64_t tiles = total_q * a.group / S::ROWS + a.batch;
    cudaError_t error =
        cudaFuncSetAttribute(attend<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)S::BYTES);
    if (error != cudaSuccess)
        return (int)error;
    attend<S><<<dim3((unsigned)tiles, (unsigned)a.kv_heads), S::THREADS, S::BYTES, stream>>>(a);
    return (int)cudaGetLastError();
}

// Long rows where shared memory is short (below 164 KB a multiprocessor) take smaller tiles.
template <int D> int launch_long(const Args &a, int64_t total_q, cudaStream_t stream)
{
    typedef Shape<D, 8, 1, 64> Large;
    typedef Shape<D, 4, 1, 32> Small;
    int device = 0, room = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error != cudaSuccess)
        return (int)error;
    return (size_t)room >= Large::BYTES ? launch<Large>(a, total_q, stream) : launch<Small>(a, total_q, stream);
}

} // namespace

extern "C" int attention(const bf16 *q, const bf16 *k, const bf16 *v, const int32_t *cu_seqlens_q,
                         const int32_t *cu_seqlens_kv, bf16 *out, float *lse, int64_t batch, int64_t heads,
                         int64_t kv_heads, int64_t head_dim, int64_t total_q, int64_t total_kv, float scale,
                         bool causal, cudaStream_t stream)
{
    const Args a = {q,   k,          v,          cu_seqlens_q,  cu_seqlens_kv,           out,
                    lse, (int)batch, (int)heads, (int)kv_heads, (int)(heads / kv_heads), scale,
                    causal};
    switch (head_dim) {
    case 64: return launch<Shape<64, 4, 2, 64>>(a, total_q, stream);
    case 80: return launch<Shape<80, 4, 2, 64>>(a, total_q, stream);
    case 96: return launch<Shape<96, 4, 2, 64>>(a, total_q, stream);
    case 112: return launch<Shape<112, 4, 2, 64>>(a, total_q, stream);
    case 128: return launch<Shape<128, 4, 2, 64>>(a, total_q, stream);
    case 192: return launch_long<192>(a, total_q, stream);
    case 256: return launch_long<256>(a, total_q, stream);
    }
    return 1;
}
