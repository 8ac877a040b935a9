// problem: kda
// verdict: general
// construction: the recurrence token by token in fp32; one block per head and 32 columns of its
//   state, each thread an eighth of a column in registers; S^T k and S^T q are summed through
//   shared memory

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int COLUMNS = 32, PARTS = 8, MAX_DIM = 192, EACH = MAX_DIM / PARTS;

struct Shape {
    int64_t t, heads;
    int dk, dv;
};

// Sums over the 8 parts of a column: thread (part, column) gives x and gets the total.
__device__ float sum_parts(float (*partial)[COLUMNS], float x)
{
    int column = threadIdx.x % COLUMNS, part = threadIdx.x / COLUMNS;
    float total = 0;
    partial[part][column] = x;
    __syncthreads();
    for (int p = 0; p < PARTS; p++)
        total += partial[p][column];
    return total;
}

// Channel i of the row of this token: q, k and exp(g).
struct Token {
    float q[MAX_DIM], k[MAX_DIM], decay[MAX_DIM];
};

__device__ void load_token(Token *token, const bf16 *q, const bf16 *k, const float *g, int64_t row,
                           int dk)
{
    int i = threadIdx.x;
    if (i < dk) {
        token->q[i] = __bfloat162float(q[row * dk + i]);
        token->k[i] = __bfloat162float(k[row * dk + i]);
        token->decay[i] = expf(g[row * dk + i]);
    }
}

// Rows of a head are s.heads rows apart in [batch, t, heads, dim].
__global__ void scan_columns(const bf16 *q, const bf16 *k, const bf16 *v, const float *g,
                             const bf16 *beta, bf16 *o, Shape s)
{
    __shared__ Token tokens[2];
    __shared__ float partial[2][PARTS][COLUMNS];
    int column = threadIdx.x % COLUMNS, part = threadIdx.x / COLUMNS;
    int64_t head = blockIdx.x, first = head / s.heads * s.t * s.heads + head % s.heads;
    int at = blockIdx.y * COLUMNS + column;
    float state[EACH] = {}, scale = 1.0f / sqrtf((float)s.dk);
    load_token(&tokens[0], q, k, g, first, s.dk);
    __syncthreads();
    for (int64_t t = 0; t < s.t; t++) {
        const Token &token = tokens[t % 2];
        int64_t row = first + t * s.heads;
        float value = __bfloat162float(v[row * s.dv + at]), weight = __bfloat162float(beta[row]);
        float seen = 0, out = 0;
        if (t + 1 < s.t) // its place was last read before the second barrier of token t - 1
            load_token(&tokens[(t + 1) % 2], q, k, g, row + s.heads, s.dk);
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            int i = part + r * PARTS;
            if (i < s.dk) {
                state[r] *= token.decay[i];
                seen += token.k[i] * state[r];
            }
        }
        float add = weight * (value - sum_parts(partial[0], seen));
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            int i = part + r * PARTS;
            if (i < s.dk) {
                state[r] += token.k[i] * add;
                out += token.q[i] * state[r];
            }
        }
        out = sum_parts(partial[1], out);
        if (part == 0)
            o[row * s.dv + at] = __float2bfloat16(scale * out);
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
