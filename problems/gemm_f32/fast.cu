// problem: gemm_f32
// verdict: general
// construction: fp32 FMA, 128 x 128 or 64 x 64 tiles in two halves of shared memory, next step
// prefetched in registers, 8 x 8 or 4 x 4 sums a thread; slices of k where tiles are few
#include <stdint.h>

namespace {

constexpr int THREADS = 256;

struct problem {
    const float *a, *b; /* [m, k]; [k, n], or [n, k] if trans_b */
    float *c;           /* [m, n] */
    float *part;        /* [slices, m, n], unless slices == 1 */
    int64_t m, n, k, trans_b;
    int slices;
};

/* source[row][col .. col + 3] of a matrix with rows of `width`, zero from column `last` and row
 * `rows` on. One load if rows start at multiples of 16 bytes, as col does in its row. */
__device__ float4 read_four(const float *source, int64_t row, int64_t col, int64_t rows,
                            int64_t width, int64_t last)
{
    const float *from = source + row * width + col;
    float4 v = {0, 0, 0, 0};

    if (row >= rows || col >= last)
        return v;
    if (width % 4 == 0 && col + 4 <= last)
        return *(const float4 *)from;
    v.x = from[0];
    v.y = col + 1 < last ? from[1] : 0.0f;
    v.z = col + 2 < last ? from[2] : 0.0f;
    v.w = col + 3 < last ? from[3] : 0.0f;
    return v;
}

/* A tile of one operand: element (p, i) is term k0 + p of row or column i0 + i. Every thread
 * carries four elements: of one i if the operand's rows run along k, else of one p. */
template <int TILE> struct tile {
    static constexpr int STEP = 4 * THREADS / TILE, PITCH = TILE + 4;
    typedef float buffer[STEP][PITCH];

    static __device__ float4 fetch(const float *source, bool rows_along_k, int64_t i0, int64_t k0,
                                   int64_t count, int64_t k, int64_t last)
    {
        const int t = threadIdx.x;
        if (rows_along_k)
            return read_four(source, i0 + t / (STEP / 4), k0 + t % (STEP / 4) * 4, count, k, last);
        return read_four(source, k0 + t / (TILE / 4), i0 + t % (TILE / 4) * 4, last, count, count);
    }

    static __device__ void keep(buffer &to, bool rows_along_k, float4 v)
    {
        const int t = threadIdx.x;
        if (rows_along_k) {
            const int i = t / (STEP / 4), p = t % (STEP / 4) * 4;
            to[p][i] = v.x;
            to[p + 1][i] = v.y;
            to[p + 2][i] = v.z;
            to[p + 3][i] = v.w;
        } else {
            *(float4 *)&to[t / (TILE / 4)][t % (TILE / 4) * 4] = v;
        }
    }
};

/* Eight (or four) values of a row of the tile, in fours 64 apart. */
template <int EACH> __device__ void take(float (&v)[EACH], const float *row, int lane)
{
#pragma unroll
    for (int f = 0; f < EACH / 4; f++) {
        const float4 four = *(const float4 *)&row[64 * f + 4 * lane];
        v[4 * f] = four.x;
        v[4 * f + 1] = four.y;
        v[4 * f + 2] = four.z;
        v[4 * f + 3] = four.w;
    }
}

/* sum[i][j] += the terms of a step: rows in fours from 4 * ty, columns in fours from 4 * tx. */
template <int TILE>
__device__ void multiply(float (&sum)[TILE / 16][TILE / 16], const typename tile<TILE>::buffer &a,
                         const typename tile<TILE>::buffer &b, int tx, int ty)
{
    constexpr int EACH = TILE / 16;

#pragma unroll
    for (int p = 0; p < tile<TILE>::STEP; p++) {
        float u[EACH], v[EACH];
        take<EACH>(u, a[p], ty);
        take<EACH>(v, b[p], tx);
#pragma unroll
        for (int i = 0; i < EACH; i++)
#pragma unroll
            for (int j = 0; j < EACH; j++)
                sum[i][j] += u[i] * v[j];
    }
}

/* Four neighbours of a row of c, or of the partial sums of a slice. */
__device__ void store_four(const problem &q, int64_t slice, int64_t row, int64_t col,
                           const float *four)
{
    float *to = (q.slices > 1 ? q.part + slice * q.m * q.n : q.c) + row * q.n + col;

    if (row >= q.m || col >= q.n)
        return;
    if (q.n % 4 == 0) {
        *(float4 *)to = make_float4(four[0], four[1], four[2], four[3]);
        return;
    }
    for (int j = 0; j < 4 && col + j < q.n; j++)
        to[j] = four[j];
}

/* One TILE x TILE tile of slice blockIdx.y; eight rows of tiles are walked column by column. */
template <int TILE> __global__ void __launch_bounds__(THREADS, 2) multiply_tile(problem q)
{
    typedef tile<TILE> half;
    constexpr int EACH = TILE / 16, STEP = half::STEP;
    __shared__ __align__(16) typename half::buffer a[2], b[2];
    const unsigned tiles_m = (unsigned)((q.m + TILE - 1) / TILE);
    const unsigned tiles_n = (unsigned)((q.n + TILE - 1) / TILE);
    const unsigned band = blockIdx.x / (8 * tiles_n), inside = blockIdx.x % (8 * tiles_n);
    const unsigned height = tiles_m - 8 * band < 8 ? tiles_m - 8 * band : 8;
    const int64_t row0 = (int64_t)(8 * band + inside % height) * TILE;
    const int64_t col0 = (int64_t)(inside / height) * TILE;
    const int64_t steps = (q.k + STEP - 1) / STEP;
    const int64_t first = steps * blockIdx.y / q.slices * STEP;
    const int64_t end = steps * (blockIdx.y + 1) / q.slices * STEP, last = end < q.k ? end : q.k;
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float sum[EACH][EACH] = {};
    int now = 0;

    float4 next_a = half::fetch(q.a, true, row0, first, q.m, q.k, last);
    float4 next_b = half::fetch(q.b, q.trans_b, col0, first, q.n, q.k, last);
    for (int64_t k0 = first; k0 < last; k0 += STEP, now ^= 1) {
        half::keep(a[now], true, next_a);
        half::keep(b[now], q.trans_b, next_b);
        __syncthreads(); /* the other half was last read before the barrier one step back */
        next_a = half::fetch(q.a, true, row0, k0 + STEP, q.m, q.k, last);
        next_b = half::fetch(q.b, q.trans_b, col0, k0 + STEP, q.n, q.k, last);
        multiply<TILE>(sum, a[now], b[now], tx, ty);
    }
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int f = 0; f < EACH / 4; f++)
            store_four(q, blockIdx.y, row0 + i / 4 * 64 + 4 * ty + i % 4, col0 + 64 * f + 4 * tx,
                       &sum[i][4 * f]);
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
    q.c[row * q.n + col] = sum;
}

static int multiprocessors()
{
    int device = 0, units = 1;

    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    return units;
}

/* `wanted` slices of k, but at least 64 terms in each. */
template <int TILE> static cudaError_t run(problem q, int64_t wanted, cudaStream_t stream)
{
    const int64_t tiles = (q.m + TILE - 1) / TILE * ((q.n + TILE - 1) / TILE), most = q.k / 64;
    const int64_t slices = wanted < most ? wanted : most;
    float *space = nullptr;

    q.slices = slices < 1 ? 1 : slices > 32 ? 32 : (int)slices;
    if (q.slices > 1) {
        const size_t bytes = (size_t)(q.slices * q.m * q.n) * sizeof(float);
        const cudaError_t error = cudaMallocAsync((void **)&space, bytes, stream);
        if (error != cudaSuccess)
            return error;
    }
    q.part = space;
    const dim3 grid((unsigned)tiles, (unsigned)q.slices);
    multiply_tile<TILE><<<grid, THREADS, 0, stream>>>(q);
    if (q.slices > 1)
        merge<<<dim3((unsigned)((q.n + 255) / 256), (unsigned)q.m), 256, 0, stream>>>(q);
    const cudaError_t error = cudaGetLastError();
    if (space)
        cudaFreeAsync(space, stream);
    return error;
}

} // namespace

extern "C" int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
                        int64_t trans_b, cudaStream_t stream)
{
    const problem q = {a, b, c, nullptr, m, n, k, trans_b, 1};
    const int64_t units = multiprocessors(), large = (m + 127) / 128 * ((n + 127) / 128);
    const int64_t small = (m + 63) / 64 * ((n + 63) / 64);

    if (large >= units * 3 / 4 && m > 64 && n > 64)
        return (int)run<128>(q, 1, stream);
    return (int)run<64>(q, 4 * units / small, stream);
}
