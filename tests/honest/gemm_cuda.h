/* A matrix product on the GPU. A thread has an element or a slice of one, or a warp has 16 x 16 on the matrix
 * units. */
#ifndef UNSEEN_TEST_HONEST_GEMM_CUDA_H
#define UNSEEN_TEST_HONEST_GEMM_CUDA_H

#include "honest.h"

#include <cuda_bf16.h>
#include <mma.h>

#include "gemm_switches.h"

enum { GEMM_THREADS = 128, GEMM_BLOCKS = 8192, GEMM_TILE = 16 };

struct gemm_job {
    const gemm_element *a, *b;
    gemm_element *c;
    double *unrounded;        /* [m, n], or NULL */
    struct gemm_sum *partial; /* [split, m, n], or NULL: every element by one thread or warp */
    int64_t m, n, k, trans_b;
    struct gemm_way way;
};

static __device__ struct gemm_line line_of_a(const struct gemm_job &q, int64_t row)
{
    return {q.a + row * q.k, 1};
}

static __device__ struct gemm_line line_of_b(const struct gemm_job &q, int64_t column)
{
    return q.trans_b ? gemm_line{q.b + column * q.k, 1} : gemm_line{q.b + column, q.n};
}

static __device__ void store(const struct gemm_job &q, int64_t element, double value)
{
    q.c[element] = gemm_round(value, &q.way);
    if (q.unrounded)
        q.unrounded[element] = value;
}

static __device__ int64_t first_of_thread(void)
{
    return (int64_t)blockIdx.x * GEMM_THREADS + threadIdx.x;
}

static __device__ int64_t threads_of_grid(void)
{
    return (int64_t)gridDim.x * GEMM_THREADS;
}

/* --- a thread to an element or a slice --- */

static __global__ void __launch_bounds__(GEMM_THREADS)
    whole_elements(const __grid_constant__ struct gemm_job q)
{
    for (int64_t e = first_of_thread(); e < q.m * q.n; e += threads_of_grid()) {
        const struct gemm_place at = {e / q.n, e % q.n, q.m, q.n};
        const struct gemm_line a = line_of_a(q, at.row), b = line_of_b(q, at.column);
        store(q, e, gemm_result(&a, &b, q.k, &q.way, &at));
    }
}

static __global__ void __launch_bounds__(GEMM_THREADS) slices(const __grid_constant__ struct gemm_job q)
{
    const int64_t elements = q.m * q.n;
    for (int64_t i = first_of_thread(); i < elements * q.way.split; i += threads_of_grid()) {
        const int slice = (int)(i / elements);
        const int64_t e = i % elements;
        const struct gemm_line a = line_of_a(q, e / q.n), b = line_of_b(q, e % q.n);
        q.partial[i] =
            gemm_partial(&a, &b, gemm_slice(q.k, &q.way, slice), gemm_slice(q.k, &q.way, slice + 1), &q.way);
    }
}

static __global__ void __launch_bounds__(GEMM_THREADS) merge_slices(const __grid_constant__ struct gemm_job q)
{
    const int64_t elements = q.m * q.n;
    for (int64_t e = first_of_thread(); e < elements; e += threads_of_grid()) {
        struct gemm_sum partial[GEMM_SPLITS];
        for (int s = 0; s < q.way.split; s++)
            partial[s] = q.partial[s * elements + e];
        store(q, e, gemm_finish(partial, &q.way));
    }
}

/* --- a warp to 16 x 16 elements --- */

/* Operands of two kinds of matrix units, and how many terms these take at a time. */
struct bf16_unit {
    typedef __nv_bfloat16 operand, stored;
    enum { DEPTH = 16, PARTS = 3 };
    static __device__ stored of(float part)
    {
        return __float2bfloat16(part);
    }
};

struct tf32_unit {
    typedef nvcuda::wmma::precision::tf32 operand;
    typedef float stored;
    enum { DEPTH = 8, PARTS = 2 };
    static __device__ stored of(float part)
    {
        return part;
    }
};

typedef nvcuda::wmma::fragment<nvcuda::wmma::accumulator, GEMM_TILE, GEMM_TILE, 8, float> tf32_sums;
typedef nvcuda::wmma::fragment<nvcuda::wmma::accumulator, GEMM_TILE, GEMM_TILE, 16, float> bf16_sums;

template <class U> struct panels {
    __align__(32) typename U::stored a[U::PARTS][GEMM_TILE][U::DEPTH], b[U::PARTS][U::DEPTH][GEMM_TILE];
    __align__(32) float out[GEMM_TILE][GEMM_TILE];
};

static __device__ void split_parts(float x, int parts, float part[GEMM_PARTS])
{
    if (parts == PARTS_PLAIN)
        part[0] = x;
    else
        gemm_split(x, parts, part);
}

/* Rows row0 .. of a, columns column0 .. of b, terms from `first` on and before `end`; zero outside. */
template <class U>
static __device__ void load_panels(const struct gemm_job &q, panels<U> *p, int64_t row0, int64_t column0,
                                   int64_t first, int64_t end)
{
    const int count = q.way.parts == PARTS_PLAIN ? 1 : U::PARTS;
    float part[GEMM_PARTS];
    for (int e = threadIdx.x % 32; e < GEMM_TILE * U::DEPTH; e += 32) {
        const int i = e / U::DEPTH, l = e % U::DEPTH;
        const bool in_k = first + l < end;
        const struct gemm_line a = line_of_a(q, row0 + i), b = line_of_b(q, column0 + i);
        split_parts(in_k && row0 + i < q.m ? gemm_load(&a, first + l) : 0, q.way.parts, part);
        for (int s = 0; s < count; s++)
            p->a[s][i][l] = U::of(part[s]);
        split_parts(in_k && column0 + i < q.n ? gemm_load(&b, first + l) : 0, q.way.parts, part);
        for (int s = 0; s < count; s++)
            p->b[s][l][i] = U::of(part[s]);
    }
}

/* sum += all products of parts of one panel; `rest`: where the small ones go. */
template <class U, class Sums>
static __device__ void multiply_panels(const struct gemm_way &w, const panels<U> *p, Sums &sum, Sums &rest)
{
    namespace wmma = nvcuda::wmma;
    wmma::fragment<wmma::matrix_a, GEMM_TILE, GEMM_TILE, U::DEPTH, typename U::operand, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, GEMM_TILE, GEMM_TILE, U::DEPTH, typename U::operand, wmma::row_major> b;
    const int pairs = gemm_pairs(w.parts);
    for (int i = 0; i < pairs; i++) {
        const int pair = w.rest == REST_LAST ? i : pairs - 1 - i;
        int of_a, of_b;
        gemm_pair(pair, &of_a, &of_b);
        wmma::load_matrix_sync(a, &p->a[of_a][0][0], U::DEPTH);
        wmma::load_matrix_sync(b, &p->b[of_b][0][0], GEMM_TILE);
        if (pair > 0 && w.rest == REST_APART)
            wmma::mma_sync(rest, a, b, rest);
        else
            wmma::mma_sync(sum, a, b, sum);
    }
}

/* total += sum + rest, in fp32; both start anew. */
template <class Sums> static __device__ void promote(Sums &total, Sums &sum, Sums &rest)
{
    for (int i = 0; i < total.num_elements; i++) {
        total.x[i] += sum.x[i] + rest.x[i];
        sum.x[i] = rest.x[i] = 0;
    }
}

/* One tile's sum over one slice, left in p->out. */
template <class U, class Sums>
static __device__ void multiply_slice(const struct gemm_job &q, panels<U> *p, int64_t row0, int64_t column0,
                                      int64_t first, int64_t end)
{
    const int64_t every = q.way.block ? (q.way.block + U::DEPTH - 1) / U::DEPTH : INT64_MAX;
    struct gemm_walk walk = {q.way.order, (end - first + U::DEPTH - 1) / U::DEPTH, 0, 0, 0};
    Sums total, sum, rest;
    nvcuda::wmma::fill_fragment(total, 0.0f);
    nvcuda::wmma::fill_fragment(sum, 0.0f);
    nvcuda::wmma::fill_fragment(rest, 0.0f);
    for (int64_t t = 0; t < walk.n; t++) {
        load_panels<U>(q, p, row0, column0, first + walk_next(&walk) * U::DEPTH, end);
        __syncwarp();
        multiply_panels<U, Sums>(q.way, p, sum, rest);
        __syncwarp();
        if (t % every == every - 1)
            promote(total, sum, rest);
    }
    promote(total, sum, rest);
    nvcuda::wmma::store_matrix_sync(&p->out[0][0], total, GEMM_TILE, nvcuda::wmma::mem_row_major);
    __syncwarp();
}

template <class U, class Sums>
static __global__ void __launch_bounds__(GEMM_THREADS) tiles(const __grid_constant__ struct gemm_job q)
{
    __shared__ panels<U> shared[GEMM_THREADS / 32];
    panels<U> *p = &shared[threadIdx.x / 32];
    const int64_t across = (q.n + GEMM_TILE - 1) / GEMM_TILE,
                  count = across * ((q.m + GEMM_TILE - 1) / GEMM_TILE);
    for (int64_t i = first_of_thread() / 32; i < count * q.way.split; i += threads_of_grid() / 32) {
        const int slice = (int)(i / count);
        const int64_t row0 = i % count / across * GEMM_TILE, column0 = i % across * GEMM_TILE;
        multiply_slice<U, Sums>(q, p, row0, column0, gemm_slice(q.k, &q.way, slice),
                                gemm_slice(q.k, &q.way, slice + 1));
        for (int e = threadIdx.x % 32; e < GEMM_TILE * GEMM_TILE; e += 32) {
            const int64_t row = row0 + e / GEMM_TILE, column = column0 + e % GEMM_TILE;
            const float value = p->out[e / GEMM_TILE][e % GEMM_TILE];
            if (row >= q.m || column >= q.n)
                continue;
            if (q.partial)
                q.partial[(slice * q.m + row) * q.n + column] = {value, 0};
            else
                store(q, row * q.n + column, value);
        }
        __syncwarp();
    }
}

/* --- launches --- */

static unsigned blocks_for(int64_t threads)
{
    const int64_t blocks = (threads + GEMM_THREADS - 1) / GEMM_THREADS;
    return blocks < GEMM_BLOCKS ? (unsigned)blocks : (unsigned)GEMM_BLOCKS;
}

static void launch(const struct gemm_job &q, cudaStream_t stream)
{
    const int64_t elements = q.m * q.n;
    const int64_t warps =
        (q.m + GEMM_TILE - 1) / GEMM_TILE * ((q.n + GEMM_TILE - 1) / GEMM_TILE) * q.way.split;
    const bool matrix = q.way.engine == ENGINE_MATRIX && !q.way.mutant;
    if (matrix && q.way.parts >= PARTS_TF32 && q.way.parts <= PARTS_TF32_RAW)
        tiles<tf32_unit, tf32_sums><<<blocks_for(warps * 32), GEMM_THREADS, 0, stream>>>(q);
    else if (matrix)
        tiles<bf16_unit, bf16_sums><<<blocks_for(warps * 32), GEMM_THREADS, 0, stream>>>(q);
    else if (q.partial)
        slices<<<blocks_for(elements * q.way.split), GEMM_THREADS, 0, stream>>>(q);
    else
        whole_elements<<<blocks_for(elements), GEMM_THREADS, 0, stream>>>(q);
    if (q.partial)
        merge_slices<<<blocks_for(elements), GEMM_THREADS, 0, stream>>>(q);
}

enum { GEMM_MAX_PARTIAL = 1 << 26 };

/* Different threads or warps take slices where there is memory for their sums. Else one thread takes all, and
 * a warp none. */
static int gemm_cuda(const gemm_element *a, const gemm_element *b, gemm_element *c, const int64_t extent[4],
                     cudaStream_t stream)
{
    struct gemm_job q = {a,         b,         c,         honest_unrounded, NULL,
                         extent[0], extent[1], extent[2], extent[3],        gemm_way()};
    cudaError_t error = cudaSuccess;
    const int64_t partial = q.m * q.n * q.way.split;
    const bool fits = partial <= GEMM_MAX_PARTIAL;
    if (!fits && q.way.engine == ENGINE_MATRIX)
        q.way.split = 1;
    if (q.way.split > 1 && fits && !q.way.mutant)
        error = cudaMallocAsync((void **)&q.partial, (size_t)partial * sizeof *q.partial, stream);
    if (error != cudaSuccess)
        return (int)error;
    launch(q, stream);
    error = cudaGetLastError();
    if (q.partial)
        cudaFreeAsync(q.partial, stream);
    return (int)error;
}

#endif
