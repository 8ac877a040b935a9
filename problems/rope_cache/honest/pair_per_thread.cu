// problem: rope_cache
// verdict: general
// construction: one flat range of pairs for queries and one for keys with their values, in strides of the grid; double products

#include <cstdint>
#include <cuda_bf16.h>

constexpr int THREADS = 256;
constexpr int64_t BLOCKS = 4096;

__device__ __nv_bfloat16 difference(float a, float c, float b, float s)
{
    return __float2bfloat16((float)((double)a * c - (double)b * s));
}

/* Pair i of a vector. */
__device__ void rotate(const __nv_bfloat16 *in, __nv_bfloat16 *out, const float *angle, int64_t i, int64_t half,
                       bool neox)
{
    const int64_t first = neox ? i : 2 * i, second = first + (neox ? half : 1);
    const float x1 = __bfloat162float(in[first]), x2 = __bfloat162float(in[second]);
    out[first] = difference(x1, angle[i], x2, angle[half + i]);
    out[second] = difference(x2, angle[i], -x1, angle[half + i]);
}

__global__ void rotate_queries(const int64_t *positions, const float *cos_sin, __nv_bfloat16 *query, int64_t pairs,
                               int64_t heads, int64_t head_dim, int64_t half, bool neox)
{
    const int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x; at < pairs; at += step) {
        __nv_bfloat16 *q = query + at / half * head_dim;
        rotate(q, q, cos_sin + positions[at / half / heads] * 2 * half, at % half, half, neox);
    }
}

/* Two elements of keys and two of values a thread: the pair, or two that are copied; those of values at 2 i and 2 i + 1. */
__global__ void store(const __nv_bfloat16 *key, const __nv_bfloat16 *value, const int64_t *positions,
                      const int64_t *slots, const float *cos_sin, __nv_bfloat16 *key_cache,
                      __nv_bfloat16 *value_cache, int64_t pairs, int64_t kv_heads, int64_t head_dim, int64_t half,
                      bool neox)
{
    const int64_t step = (int64_t)gridDim.x * THREADS, all = head_dim / 2;
    for (int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x; at < pairs; at += step) {
        const int64_t vector = at / all, i = at % all, token = vector / kv_heads, slot = slots[token];
        if (slot < 0)
            continue;
        const int64_t from = vector * head_dim, to = (slot * kv_heads + vector % kv_heads) * head_dim;
        if (i < half) {
            rotate(key + from, key_cache + to, cos_sin + positions[token] * 2 * half, i, half, neox);
        } else {
            key_cache[to + 2 * i] = key[from + 2 * i];
            key_cache[to + 2 * i + 1] = key[from + 2 * i + 1];
        }
        value_cache[to + 2 * i] = value[from + 2 * i];
        value_cache[to + 2 * i + 1] = value[from + 2 * i + 1];
    }
}

static unsigned blocks_of(int64_t pairs)
{
    const int64_t blocks = (pairs + THREADS - 1) / THREADS;
    return (unsigned)(blocks < BLOCKS ? blocks : BLOCKS);
}

/* key, value are [tokens, kv_heads, head_dim], query is [tokens, heads, head_dim], caches are [slots, kv_heads, head_dim] */
extern "C" int rope_cache(const __nv_bfloat16 *key, const __nv_bfloat16 *value, const int64_t *positions,
                          const int64_t *slots, const float *cos_sin, __nv_bfloat16 *query,
                          __nv_bfloat16 *key_cache, __nv_bfloat16 *value_cache, int64_t tokens, int64_t heads,
                          int64_t kv_heads, int64_t head_dim, int64_t rot_dim, int64_t page_size, int64_t pages,
                          int64_t max_position, bool neox, cudaStream_t stream)
{
    const int64_t half = rot_dim / 2, turned = tokens * heads * half, stored = tokens * kv_heads * (head_dim / 2);
    rotate_queries<<<blocks_of(turned), THREADS, 0, stream>>>(positions, cos_sin, query, turned, heads, head_dim, half,
                                                             neox);
    store<<<blocks_of(stored), THREADS, 0, stream>>>(key, value, positions, slots, cos_sin, key_cache, value_cache,
                                                    stored, kv_heads, head_dim, half, neox);
    return (int)cudaGetLastError();
}
