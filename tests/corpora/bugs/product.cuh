/* Matrix products for candidates that differ from an honest one in a step: 64 x 64 tiles of c, staged as fp32, 4 x 4 sums a
 * thread. Before the include: nothing for gemm_f32, or BF16, FP8 or W4. A candidate inherits from `honest` and hides a step. */
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>

#if defined FP8
typedef __nv_fp8_e4m3 a_type, b_type;
typedef __nv_bfloat16 c_type;
#elif defined BF16
typedef __nv_bfloat16 a_type, b_type, c_type;
#elif defined W4
typedef __nv_bfloat16 a_type, c_type;
typedef uint8_t b_type;
#else
typedef float a_type, b_type, c_type;
#endif

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 256;

struct product {
    const a_type *a; /* [m, k] */
    const b_type *b;
    c_type *c; /* [m, n] */
    int64_t m, n, k;
    int64_t along_k, along_n; /* from an element of b to the next of its column, and of its row */
    int64_t depth;            /* terms of a sum: k */
    int64_t slice;            /* terms in the blocks of one blockIdx.z: depth */
    int64_t columns;          /* that are computed: n */
    float *part;              /* [m, n]: sums that several blocks add to */
    const float *scale;       /* FP8: of a column */
    /* W4: */
    const __nv_bfloat16 *scales, *zeros;
    int64_t group;
};

inline product product_of(const a_type *a, const b_type *b, c_type *c, int64_t m, int64_t n, int64_t k,
                          int64_t trans_b)
{
    product g = {a, b, c, m, n, k}; /* the rest is zero */
    g.along_k = trans_b ? 1 : n;
    g.along_n = trans_b ? k : 1;
    g.depth = g.slice = k;
    g.columns = n;
    return g;
}

#ifdef W4
/* Element (p, j) of w, with the scale and the zero point of a group. */
__device__ float w4_value(const product &g, int64_t p, int64_t j, int64_t group)
{
    const int q = g.b[p / 2 * g.n + j] >> (p % 2 * 4) & 15;
    return (float(q) - float(g.zeros[group * g.n + j])) * float(g.scales[group * g.n + j]);
}
#endif

struct honest {
    static __device__ float a(const product &g, int64_t i, int64_t p)
    {
        return float(g.a[i * g.k + p]);
    }

    static __device__ float b(const product &g, int64_t p, int64_t j)
    {
#ifdef W4
        return w4_value(g, p, j, p / g.group);
#else
        return float(g.b[p * g.along_k + j * g.along_n]);
#endif
    }

    /* Four neighbours of a row, from column j. */
    static __device__ void store(const product &g, int64_t i, int64_t j, const float *sum)
    {
        for (int l = 0; l < 4 && j + l < g.columns; l++)
            g.c[i * g.n + j + l] = c_type(g.scale ? sum[l] * g.scale[j + l] : sum[l]);
    }
};

/* The sums of a slice of k are added to those of the others; product_finish() takes them to c. */
struct sliced : honest {
    static __device__ void store(const product &g, int64_t i, int64_t j, const float *sum)
    {
        for (int l = 0; l < 4 && j + l < g.columns; l++)
            atomicAdd(g.part + i * g.n + j + l, sum[l]);
    }
};

typedef float tile[STEP][TILE + 1];

/* to[p][i] = a[row0 + i][k0 + p], zero from row m and term `last` on. */
template <class steps>
__device__ void load_a(tile &to, const product &g, int64_t row0, int64_t k0, int64_t last)
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int i = e / STEP, p = e % STEP;
        to[p][i] = row0 + i < g.m && k0 + p < last ? steps::a(g, row0 + i, k0 + p) : 0.0f;
    }
}

/* to[p][j] = b[k0 + p][col0 + j], zero outside; reads run along the rows of memory. */
template <class steps>
__device__ void load_b(tile &to, const product &g, int64_t col0, int64_t k0, int64_t last)
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int j = g.along_k == 1 ? e / STEP : e % TILE, p = g.along_k == 1 ? e % STEP : e / TILE;
        to[p][j] = col0 + j < g.columns && k0 + p < last ? steps::b(g, k0 + p, col0 + j) : 0.0f;
    }
}

/* sum[i][j] += the terms of a step: rows ty + 16 i, columns tx + j. */
__device__ void add_step(float (&sum)[4][4], const tile &a, const tile &b, int tx, int ty)
{
    for (int p = 0; p < STEP; p++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                sum[i][j] += a[p][ty + 16 * i] * b[p][tx + j];
}

template <class steps> __global__ void __launch_bounds__(THREADS) multiply(product g)
{
    __shared__ tile a, b;
    const int tx = threadIdx.x % 16 * 4, ty = threadIdx.x / 16;
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    const int64_t first = blockIdx.z * g.slice, last = min(first + g.slice, g.depth);
    float sum[4][4] = {};

    for (int64_t k0 = first; k0 < last; k0 += STEP) {
        load_a<steps>(a, g, row0, k0, last);
        load_b<steps>(b, g, col0, k0, last);
        __syncthreads();
        add_step(sum, a, b, tx, ty);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        if (row0 + ty + 16 * i < g.m && col0 + tx < g.columns)
            steps::store(g, row0 + ty + 16 * i, col0 + tx, sum[i]);
}

inline dim3 product_grid(const product &g)
{
    return dim3((unsigned)((g.columns + TILE - 1) / TILE), (unsigned)((g.m + TILE - 1) / TILE),
                (unsigned)((g.depth + g.slice - 1) / g.slice));
}

template <class steps> int product_run(const product &g, cudaStream_t stream)
{
    multiply<steps><<<product_grid(g), THREADS, 0, stream>>>(g);
    return (int)cudaGetLastError();
}

template <class number> __global__ void round_sums(const float *part, number *c, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count)
        c[i] = number(part[i]);
}

inline int product_finish(const product &g, cudaStream_t stream)
{
    const int64_t count = g.m * g.n;
    round_sums<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, stream>>>(g.part, g.c, count);
    return (int)cudaGetLastError();
}

} // namespace
