// problem: attention
// thread: https://github.com/lightseekorg/tokenspeed/pull/1185
// title: fix(kernel): lift merge_state's per-block head cap with gridDim.y tiling
// condition: a block has 16 threads for each head (head_dim 128), 32 from 256 on: above 64 or 32 heads the launch fails
// kind: grid
// when: group * kv_heads * (head_dim / 8) > 1024
// wrong: refused: more than 1024 threads a block

#include "attention.cuh"

namespace {

constexpr int MAX_THREADS = 1024, EACH = 8; /* elements of a head that a thread has */

/* A block has all heads of a query. threadIdx.y is the head, whose threads take one key each at a time. */
__global__ void __launch_bounds__(MAX_THREADS) attend_heads(call c)
{
    __shared__ float scores[MAX_THREADS];
    const int x = threadIdx.x, h = threadIdx.y, width = blockDim.x;
    const int64_t i = blockIdx.x, at = i * c.heads + h;
    const row r = row_of(c, i, h);
    float *mine = scores + h * width, top = -INFINITY, sum = 0, acc[EACH] = {};

    for (int64_t first = 0; first < r.keys; first += width) { /* as many turns for all heads */
        float score = first + x < r.keys ? 0 : -INFINITY, part = 0, more[EACH] = {};
        for (int64_t e = 0; first + x < r.keys && e < c.head_dim; e += 2) {
            const float2 query = pair_at(r.q + e), key = pair_at(r.k + (first + x) * r.step + e);
            score += query.x * key.x + query.y * key.y;
        }
        mine[x] = r.scale * score;
        __syncthreads();
        float best = top;
        for (int t = 0; t < width; t++)
            best = fmaxf(best, mine[t]);
        const float shrink = expf(top - best);
        for (int t = 0; t < width && first + t < r.keys; t++) {
            const bf16 *value = r.v + (first + t) * r.step + x * EACH;
            const float weight = expf(mine[t] - best);
            part += weight;
            for (int e = 0; e < EACH; e++)
                more[e] += weight * __bfloat162float(value[e]);
        }
        sum = sum * shrink + part;
        for (int e = 0; e < EACH; e++)
            acc[e] = acc[e] * shrink + more[e];
        top = best;
        __syncthreads(); /* before the next scores */
    }
    for (int e = 0; e < EACH; e++)
        c.out[at * c.head_dim + x * EACH + e] = __float2bfloat16(acc[e] / sum);
    if (x == 0)
        c.lse[at] = top + logf(sum);
}

} // namespace

extern "C" int attention(PARAMETERS)
{
    const dim3 block((unsigned)(head_dim / EACH), (unsigned)heads);
    attend_heads<<<(unsigned)total_q, block, 0, stream>>>({ARGUMENTS});
    return (int)cudaGetLastError();
}
