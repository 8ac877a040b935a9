// problem: kda
// verdict: specialized
// fault: exp(G) and exp(-G) formed separately
// outcomes: wrong
// when: decay=strong and t > 10 or decay=mixed and t > 10
// shows: exp(-G) overflows after 11 to 25 tokens of a chunk: infinity times 0

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int COLUMNS = 32, PARTS = 8, MAX_DIM = 192, EACH = MAX_DIM / PARTS, CHUNK = 64;

struct Shape {
    int64_t t, heads; // rows of a head are `heads` rows apart
    int dk, dv;
};

// One block per head and 32 columns of its state; warp `part` holds rows part + 8 r of them. With G
// the sum of g since the chunk began, `state` is exp(-G) S: within a chunk it need not be decayed.
__global__ void scan_columns(const bf16 *q, const bf16 *k, const bf16 *v, const float *g,
                             const bf16 *beta, bf16 *o, Shape s)
{
    __shared__ float qs[MAX_DIM], ks[MAX_DIM], far[MAX_DIM], near[MAX_DIM], seen[PARTS][COLUMNS],
        out[PARTS][COLUMNS];
    int i = threadIdx.x, column = i % COLUMNS, part = i / COLUMNS;
    int64_t head = blockIdx.x, at = blockIdx.y * COLUMNS + column;
    int64_t row = head / s.heads * s.t * s.heads + head % s.heads;
    float state[EACH] = {}, scale = 1.0f / sqrtf((float)s.dk), sum_g = 0;
    for (int64_t t = 0; t < s.t; t++, row += s.heads) {
        float add = __bfloat162float(v[row * s.dv + at]), sum = 0;
        float weight = __bfloat162float(beta[row]);
        if (i < s.dk) {
            qs[i] = __bfloat162float(q[row * s.dk + i]);
            ks[i] = __bfloat162float(k[row * s.dk + i]);
            sum_g += g[row * s.dk + i];
            far[i] = expf(sum_g);
            near[i] = expf(-sum_g);
        }
        __syncthreads();
        for (int r = 0; r < EACH && part + r * PARTS < s.dk; r++) {
            sum += ks[part + r * PARTS] * far[part + r * PARTS] * state[r];
        }
        seen[part][column] = sum;
        __syncthreads();
        for (int p = 0; p < PARTS; p++)
            add -= seen[p][column];
        add *= weight;
        sum = 0;
        for (int r = 0; r < EACH && part + r * PARTS < s.dk; r++) {
            state[r] += ks[part + r * PARTS] * near[part + r * PARTS] * add;
            sum += qs[part + r * PARTS] * far[part + r * PARTS] * state[r];
            if (t % CHUNK == CHUNK - 1)
                state[r] *= far[part + r * PARTS];
        }
        if (t % CHUNK == CHUNK - 1)
            sum_g = 0;
        out[part][column] = sum;
        __syncthreads(); // the next token's q, k and decay may come
        sum = 0;
        for (int p = 0; p < PARTS; p++)
            sum += out[p][column];
        if (part == 0)
            o[row * s.dv + at] = __float2bfloat16(scale * sum);
    }
}

} // namespace

extern "C" int kda(const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta,
                   bf16 *o, int64_t batch, int64_t t, int64_t heads, int64_t dk, int64_t dv,
                   cudaStream_t stream)
{
    Shape s = {t, heads, (int)dk, (int)dv};
    dim3 grid((unsigned)(batch * heads), (unsigned)(dv / COLUMNS));
    scan_columns<<<grid, COLUMNS * PARTS, 0, stream>>>(q, k, v, g, beta, o, s);
    return (int)cudaGetLastError();
}
