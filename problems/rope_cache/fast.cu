// problem: rope_cache
// verdict: general
// construction: blocks of a token and some of its heads; a thread keeps its angles, and moves 16 bytes at a time where rot_dim lets it

#include <cstdint>
#include <cuda_bf16.h>

constexpr int THREADS = 256, COPY = 8; /* elements of 16 bytes */

template <int N> struct alignas(2 * N) Elements {
    __nv_bfloat16 at[N];
};

template <int N> struct alignas(N < 4 ? 4 * N : 16) Angles {
    float at[N];
};

struct Sizes {
    int64_t heads, kv_heads;
    int dim, rot;
};

template <int N> __device__ void copy(const __nv_bfloat16 *in, __nv_bfloat16 *out)
{
    *(Elements<N> *)out = *(const Elements<N> *)in;
}

/* Elements i .. i + V - 1 with those half a rotation on. */
template <int V>
__device__ void rotate_halves(const __nv_bfloat16 *in, __nv_bfloat16 *out, int i, int half, const Angles<V> &c,
                              const Angles<V> &s)
{
    Elements<V> first = *(const Elements<V> *)(in + i), second = *(const Elements<V> *)(in + half + i);
#pragma unroll
    for (int j = 0; j < V; j++) {
        const float x1 = __bfloat162float(first.at[j]), x2 = __bfloat162float(second.at[j]);
        first.at[j] = __float2bfloat16(x1 * c.at[j] - x2 * s.at[j]);
        second.at[j] = __float2bfloat16(x2 * c.at[j] + x1 * s.at[j]);
    }
    *(Elements<V> *)(out + i) = first;
    *(Elements<V> *)(out + half + i) = second;
}

/* Elements i .. i + V - 1, which are V / 2 pairs. */
template <int V>
__device__ void rotate_pairs(const __nv_bfloat16 *in, __nv_bfloat16 *out, int i, const Angles<V / 2> &c,
                             const Angles<V / 2> &s)
{
    Elements<V> x = *(const Elements<V> *)(in + i);
#pragma unroll
    for (int j = 0; j < V / 2; j++) {
        const float x1 = __bfloat162float(x.at[2 * j]), x2 = __bfloat162float(x.at[2 * j + 1]);
        x.at[2 * j] = __float2bfloat16(x1 * c.at[j] - x2 * s.at[j]);
        x.at[2 * j + 1] = __float2bfloat16(x2 * c.at[j] + x1 * s.at[j]);
    }
    *(Elements<V> *)(out + i) = x;
}

/* Threads of a group have a unit of a vector each, V elements or twice V, and the same one of every vector they meet. */
template <int V, bool HALVES>
__global__ void __launch_bounds__(THREADS)
    append(const __nv_bfloat16 *key, const __nv_bfloat16 *value, const int64_t *positions, const int64_t *slots,
           const float *cos_sin, __nv_bfloat16 *query, __nv_bfloat16 *key_cache, __nv_bfloat16 *value_cache,
           Sizes size)
{
    constexpr int ANGLES = HALVES ? V : V / 2;
    const int half = size.rot / 2, units = half / ANGLES, groups = THREADS / units;
    const int unit = threadIdx.x % units, group = threadIdx.x / units;
    const int64_t token = blockIdx.x, slot = slots[token], row = size.kv_heads * size.dim;
    const float *angle = cos_sin + positions[token] * size.rot + unit * ANGLES;
    const Angles<ANGLES> c = *(const Angles<ANGLES> *)angle, s = *(const Angles<ANGLES> *)(angle + half);
    const int64_t vectors = size.heads + (slot < 0 ? 0 : size.kv_heads);

    for (int64_t v = (int64_t)blockIdx.y * groups + group; group < groups && v < vectors; v += gridDim.y * groups) {
        const bool is_key = v >= size.heads;
        const __nv_bfloat16 *in = is_key ? key + token * row + (v - size.heads) * size.dim
                                         : query + (token * size.heads + v) * size.dim;
        __nv_bfloat16 *out = is_key ? key_cache + slot * row + (v - size.heads) * size.dim
                                    : query + (token * size.heads + v) * size.dim;
        if constexpr (HALVES)
            rotate_halves<V>(in, out, unit * V, half, c, s);
        else
            rotate_pairs<V>(in, out, unit * V, c, s);
    }
    if (slot < 0)
        return;
    const int64_t first = (int64_t)blockIdx.y * THREADS + threadIdx.x, step = (int64_t)gridDim.y * THREADS;
    const int rest = (size.dim - size.rot) / V;
    for (int64_t i = first; i < size.kv_heads * rest; i += step) {
        const int64_t at = i / rest * size.dim + size.rot + i % rest * V;
        copy<V>(key + token * row + at, key_cache + slot * row + at);
    }
    for (int64_t i = first; i < row / COPY; i += step)
        copy<COPY>(value + token * row + i * COPY, value_cache + slot * row + i * COPY);
}

/* Few tokens are spread over more blocks: a vector a thread; many have up to four. */
template <int V, bool HALVES>
int launch(const __nv_bfloat16 *key, const __nv_bfloat16 *value, const int64_t *positions, const int64_t *slots,
           const float *cos_sin, __nv_bfloat16 *query, __nv_bfloat16 *key_cache, __nv_bfloat16 *value_cache,
           int64_t tokens, Sizes size, cudaStream_t stream)
{
    const int64_t units = size.rot / 2 / (HALVES ? V : V / 2), groups = THREADS / units;
    const int64_t at_once = groups * (tokens < 2048 ? 1 : 4);
    const int64_t parts = (size.heads + size.kv_heads + at_once - 1) / at_once;
    append<V, HALVES><<<dim3((unsigned)tokens, (unsigned)parts), THREADS, 0, stream>>>(
        key, value, positions, slots, cos_sin, query, key_cache, value_cache, size);
    return (int)cudaGetLastError();
}

/* head_dim is a multiple of 16, rot_dim of 2; tensors begin at multiples of 16 bytes, vectors at multiples of 32. */
extern "C" int rope_cache(const __nv_bfloat16 *key, const __nv_bfloat16 *value, const int64_t *positions,
                          const int64_t *slots, const float *cos_sin, __nv_bfloat16 *query,
                          __nv_bfloat16 *key_cache, __nv_bfloat16 *value_cache, int64_t tokens, int64_t heads,
                          int64_t kv_heads, int64_t head_dim, int64_t rot_dim, int64_t page_size, int64_t pages,
                          int64_t max_position, bool neox, cudaStream_t stream)
{
    const Sizes size = {heads, kv_heads, (int)head_dim, (int)rot_dim};
    const int64_t half = rot_dim / 2;
    const auto chosen = neox ? half % 8 == 0   ? launch<8, true>
                               : half % 4 == 0 ? launch<4, true>
                               : half % 2 == 0 ? launch<2, true>
                                               : launch<1, true>
                        : rot_dim % 8 == 0 ? launch<8, false>
                        : rot_dim % 4 == 0 ? launch<4, false>
                                           : launch<2, false>;
    return chosen(key, value, positions, slots, cos_sin, query, key_cache, value_cache, tokens, size, stream);
}
