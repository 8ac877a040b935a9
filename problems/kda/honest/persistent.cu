// problem: kda
// verdict: general
// construction: two blocks a multiprocessor take items (a head, 16 columns) from a queue; the state
//   lies in shared memory, tokens come four at a time

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int COLUMNS = 16, PARTS = 16, THREADS = COLUMNS * PARTS, MAX_DIM = 192, STAGE = 4;

struct Args {
    const bf16 *q, *k, *v;
    const float *g;
    const bf16 *beta;
    bf16 *o;
    unsigned *next; // item to take
    int64_t items, t, heads; // rows of a head are `heads` rows apart
    int dk, dv;
};

struct Shared {
    float state[MAX_DIM][COLUMNS], q[STAGE][MAX_DIM], k[STAGE][MAX_DIM], decay[STAGE][MAX_DIM];
    float v[STAGE][COLUMNS], beta[STAGE], seen[PARTS][COLUMNS], out[PARTS][COLUMNS];
    unsigned item;
};

// `count` tokens from `row` on; 16 columns of v from `at`.
__device__ void stage(Shared &sh, const Args &a, int64_t row, int64_t at, int count)
{
    for (int n = 0; n < count; n++, row += a.heads) {
        for (int i = threadIdx.x; i < a.dk; i += THREADS) {
            sh.q[n][i] = __bfloat162float(a.q[row * a.dk + i]);
            sh.k[n][i] = __bfloat162float(a.k[row * a.dk + i]);
            sh.decay[n][i] = expf(a.g[row * a.dk + i]);
        }
        if (threadIdx.x < COLUMNS)
            sh.v[n][threadIdx.x] = __bfloat162float(a.v[row * a.dv + at + threadIdx.x]);
        if (threadIdx.x == 0)
            sh.beta[n] = __bfloat162float(a.beta[row]);
    }
}

// One token of the stage; thread (part, c) holds rows part, part + 16, .. of column c.
__device__ void advance(Shared &sh, const Args &a, int n, int64_t row, int64_t at, float scale)
{
    int c = threadIdx.x % COLUMNS, part = threadIdx.x / COLUMNS;
    float seen = 0, out = 0;
    for (int i = part; i < a.dk; i += PARTS) {
        sh.state[i][c] *= sh.decay[n][i];
        seen += sh.k[n][i] * sh.state[i][c];
    }
    sh.seen[part][c] = seen;
    __syncthreads();
    seen = 0;
    for (int p = 0; p < PARTS; p++)
        seen += sh.seen[p][c];
    float add = sh.beta[n] * (sh.v[n][c] - seen);
    for (int i = part; i < a.dk; i += PARTS) {
        sh.state[i][c] += sh.k[n][i] * add;
        out += sh.q[n][i] * sh.state[i][c];
    }
    sh.out[part][c] = out;
    __syncthreads();
    if (part > 0)
        return;
    out = 0;
    for (int p = 0; p < PARTS; p++)
        out += sh.out[p][c];
    a.o[row * a.dv + at + c] = __float2bfloat16(scale * out);
}

__global__ void __launch_bounds__(THREADS) scan_items(Args a)
{
    __shared__ Shared sh;
    float scale = 1.0f / sqrtf((float)a.dk);
    int64_t slices = a.dv / COLUMNS;
    for (;;) {
        if (threadIdx.x == 0)
            sh.item = atomicAdd(a.next, 1u);
        __syncthreads();
        int64_t item = sh.item, head = item / slices, at = item % slices * COLUMNS;
        int64_t row = head / a.heads * a.t * a.heads + head % a.heads;
        if (item >= a.items)
            return;
        for (int i = threadIdx.x; i < MAX_DIM * COLUMNS; i += THREADS)
            sh.state[i / COLUMNS][i % COLUMNS] = 0;
        for (int64_t t = 0; t < a.t; t += STAGE, row += STAGE * a.heads) {
            int count = a.t - t < STAGE ? (int)(a.t - t) : STAGE;
            __syncthreads(); // all are done with the tokens before
            stage(sh, a, row, at, count);
            __syncthreads();
            for (int n = 0; n < count; n++)
                advance(sh, a, n, row + n * a.heads, at, scale);
        }
        __syncthreads(); // before the next item is taken
    }
}

} // namespace

extern "C" int kda(const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta,
                   bf16 *o, int64_t batch, int64_t t, int64_t heads, int64_t dk, int64_t dv,
                   cudaStream_t stream)
{
    int device = 0, units = 1;
    Args a = {q, k, v, g, beta, o, nullptr, batch * heads * dv / COLUMNS, t, heads, (int)dk,
              (int)dv};
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    cudaError_t error = cudaMallocAsync((void **)&a.next, sizeof *a.next, stream);
    if (error != cudaSuccess)
        return (int)error;
    cudaMemsetAsync(a.next, 0, sizeof *a.next, stream);
    int64_t blocks = a.items < 2 * units ? a.items : 2 * units;
    scan_items<<<(unsigned)blocks, THREADS, 0, stream>>>(a);
    error = cudaGetLastError();
    cudaFreeAsync(a.next, stream);
    return (int)error;
}
