// problem: gemm_bf16
// verdict: broken
// fault: stale output
// outcomes: wrong unstable
// when: any
// shows: from the second call on: the sums of the first are still there
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 256, SLICES = 8;

struct problem {
    const __nv_bfloat16 *a, *b; /* [m, k]; [k, n], or [n, k] if trans_b */
    __nv_bfloat16 *c;           /* [m, n] */
    int64_t m, n, k, trans_b;
};

/* tile[p][i] = a[row0 + i][k0 + p], zero outside the matrix and from `last` on. */
__device__ void load_a(float (*tile)[TILE + 1], const problem &q, int64_t row0, int64_t k0,
                       int64_t last)
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int i = e / STEP, p = e % STEP;
        const bool inside = row0 + i < q.m && k0 + p < last;
        tile[p][i] = inside ? float(q.a[(row0 + i) * q.k + k0 + p]) : 0.0f;
    }
}

/* tile[p][j] = b[k0 + p][col0 + j], zero outside; reads run along the rows of memory. */
__device__ void load_b(float (*tile)[TILE + 1], const problem &q, int64_t col0, int64_t k0,
                       int64_t last)
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int j = q.trans_b ? e / STEP : e % TILE, p = q.trans_b ? e % STEP : e / TILE;
        const int64_t row = k0 + p, col = col0 + j;
        const bool inside = row < last && col < q.n;
        tile[p][j] = inside ? float(q.b[q.trans_b ? col * q.k + row : row * q.n + col]) : 0.0f;
    }
}

/* total += the sums over slice z of k. */
__global__ void __launch_bounds__(THREADS) gemm(problem q, float *total)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE + 1];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    const int64_t last = q.k * (blockIdx.z + 1) / gridDim.z;
    float sum[4][4] = {};

    for (int64_t k0 = q.k * blockIdx.z / gridDim.z; k0 < last; k0 += STEP) {
        load_a(a, q, row0, k0, last);
        load_b(b, q, col0, k0, last);
        __syncthreads();
        for (int p = 0; p < STEP; p++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += a[p][ty + 16 * i] * b[p][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const int64_t row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
            if (row < q.m && col < q.n)
                atomicAdd(&total[row * q.n + col], sum[i][j]);
        }
}

__global__ void round_sums(problem q, const float *total)
{
    const int64_t row = blockIdx.y, col = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

    if (col < q.n)
        q.c[row * q.n + col] = __float2bfloat16(total[row * q.n + col]);
}

/* Room for m * n sums, cleared when it is made; it is kept for the next call. */
static float *workspace(size_t size, cudaStream_t stream)
{
    static float *room;
    static size_t held;

    if (held >= size)
        return room;
    if (room)
        cudaFreeAsync(room, stream);
    held = cudaMallocAsync((void **)&room, size, stream) == cudaSuccess ? size : 0;
    if (!held)
        return room = nullptr;
    cudaMemsetAsync(room, 0, size, stream);
    return room;
}

} // namespace

extern "C" int gemm_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c,
                         int64_t m, int64_t n, int64_t k, int64_t trans_b, cudaStream_t stream)
{
    const problem q = {a, b, c, m, n, k, trans_b};
    const dim3 grid((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE), SLICES);
    float *total = workspace((size_t)(m * n) * sizeof(float), stream);

    if (!total)
        return (int)cudaErrorMemoryAllocation;
    gemm<<<grid, THREADS, 0, stream>>>(q, total);
    round_sums<<<dim3((unsigned)((n + 255) / 256), (unsigned)m), 256, 0, stream>>>(q, total);
    return (int)cudaGetLastError();
}
