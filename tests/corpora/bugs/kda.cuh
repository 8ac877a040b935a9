/* The recurrence token by token, for candidates that differ from an honest one in a step. 8 threads,
 * threadIdx.x, share a column of a head's state and keep it in registers. A candidate inherits from `honest`
 * and hides a step, or launches otherwise. */
#include <cuda_bf16.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int PARTS = 8, MAX_DIM = 192, EACH = MAX_DIM / PARTS;

struct kda {
    const bf16 *q, *k, *v;
    const float *g;
    const bf16 *beta;
    bf16 *o;
    int64_t batch, t, heads, dk, dv;
};

struct honest {
    /* Called by all threads of a block before token t. */
    static __device__ void begin(const kda &, int64_t, int64_t, int64_t)
    {
    }

    /* For channel i at token t, which is in row `row` of q, k, v, g, beta and o. */
    static __device__ float decay(const kda &c, int64_t row, int64_t, int64_t i)
    {
        return expf(c.g[row * c.dk + i]);
    }

    static __device__ void store(const kda &c, int64_t row, int64_t j, float y)
    {
        if (j < c.dv)
            c.o[row * c.dv + j] = __float2bfloat16(y);
    }
};

/* Over the 8 neighbours that share a column. */
__device__ float sum_parts(float x)
{
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    for (int lanes = PARTS / 2; lanes > 0; lanes /= 2)
        x += __shfl_xor_sync(0xffu << (thread & 24), x, lanes);
    return x;
}

/* Column j of head h of sequence b, a value of 0 where there is none. */
template <class steps> __device__ void kda_column(const kda &c, int64_t b, int64_t h, int64_t j)
{
    const float scale = 1.0f / sqrtf((float)c.dk);
    float state[EACH] = {};
    for (int64_t t = 0; t < c.t; t++) {
        const int64_t row = (b * c.t + t) * c.heads + h;
        const float value = j < c.dv ? __bfloat162float(c.v[row * c.dv + j]) : 0.0f;
        float seen = 0, out = 0;
        steps::begin(c, b, h, t);
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            const int64_t i = threadIdx.x + r * PARTS;
            if (i < c.dk) {
                state[r] *= steps::decay(c, row, t, i);
                seen += __bfloat162float(c.k[row * c.dk + i]) * state[r];
            }
        }
        const float add = __bfloat162float(c.beta[row]) * (value - sum_parts(seen));
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            const int64_t i = threadIdx.x + r * PARTS;
            if (i < c.dk) {
                state[r] += __bfloat162float(c.k[row * c.dk + i]) * add;
                out += __bfloat162float(c.q[row * c.dk + i]) * state[r];
            }
        }
        out = sum_parts(out);
        if (threadIdx.x == 0)
            steps::store(c, row, j, scale * out);
    }
}

/* A block for each head and COLUMNS columns of its state. */
template <class steps, int COLUMNS> __global__ void __launch_bounds__(PARTS *COLUMNS) kda_head(kda c)
{
    kda_column<steps>(c, blockIdx.x / c.heads, blockIdx.x % c.heads,
                      (int64_t)blockIdx.y * COLUMNS + threadIdx.y);
}

template <class steps, int COLUMNS> int kda_run(const kda &c, size_t shared_bytes, cudaStream_t stream)
{
    const dim3 grid((unsigned)(c.batch * c.heads), (unsigned)((c.dv + COLUMNS - 1) / COLUMNS));
    kda_head<steps, COLUMNS><<<grid, dim3(PARTS, COLUMNS), shared_bytes, stream>>>(c);
    return (int)cudaGetLastError();
}

} // namespace

#define PARAMETERS                                                                                           \
    const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta, bf16 *o, int64_t batch,   \
        int64_t t, int64_t heads, int64_t dk, int64_t dv, cudaStream_t stream
#define ARGUMENTS q, k, v, g, beta, o, batch, t, heads, dk, dv
