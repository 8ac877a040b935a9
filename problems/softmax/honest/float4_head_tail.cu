// problem: softmax
// verdict: general
// construction: one block a row, 16-byte loads and stores between a scalar head and a scalar tail

#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 512, WARPS = THREADS / 32;

/* Row r starts 4 * (r * cols mod 4) bytes after a 16-byte boundary. `head` columns up to the next
 * boundary are processed singly, then `quads` groups of four, then the tail. Since x and y are
 * 16-byte aligned, their rows have the same offset. */
struct Parts {
    int64_t head, quads, cols;

    __device__ Parts(const float *row, int64_t all) : cols(all)
    {
        head = (4 - (int64_t)((uintptr_t)row / 4 % 4)) % 4;
        head = head < cols ? head : cols;
        quads = (cols - head) / 4;
    }

    __device__ int64_t tail() const { return head + 4 * quads; }
};

/* f(v, c) for each column c of this thread, v = in[c]. Head and tail have at most 3 columns each:
 * threads 0-2 and 32-34 take them. */
template <class F>
__device__ void each(const float *in, const Parts &p, F f)
{
    const float4 *quad = reinterpret_cast<const float4 *>(in + p.head);
    for (int64_t q = threadIdx.x; q < p.quads; q += THREADS)
        f(quad[q], q);
    int64_t c = threadIdx.x < 32 ? (int64_t)threadIdx.x : p.tail() + threadIdx.x - 32;
    int64_t end = threadIdx.x < 32 ? p.head : threadIdx.x < 64 ? p.cols : 0;
    if (c < end)
        f(in[c], c);
}

template <bool MAX>
__device__ float block_reduce(float value, float *part)
{
    for (int lane = 16; lane > 0; lane /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, value, lane);
        value = MAX ? fmaxf(value, other) : value + other;
    }
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    value = part[0];
    for (int w = 1; w < WARPS; ++w)
        value = MAX ? fmaxf(value, part[w]) : value + part[w];
    return value;
}

struct RowMax {
    float max = -INFINITY;
    __device__ void operator()(float v, int64_t) { max = fmaxf(max, v); }
    __device__ void operator()(float4 v, int64_t)
    {
        max = fmaxf(max, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
};

/* Chains of 2^20 / (4 * 512) = 512 terms, each the sum of four. */
struct RowSum {
    float max, sum = 0.0f;
    __device__ void operator()(float v, int64_t) { sum += expf(v - max); }
    __device__ void operator()(float4 v, int64_t)
    {
        sum += (expf(v.x - max) + expf(v.y - max)) + (expf(v.z - max) + expf(v.w - max));
    }
};

struct Store {
    float max, scale, *row;
    float4 *quad;
    __device__ float of(float v) const { return expf(v - max) * scale; }
    __device__ void operator()(float v, int64_t c) { row[c] = of(v); }
    __device__ void operator()(float4 v, int64_t q)
    {
        quad[q] = make_float4(of(v.x), of(v.y), of(v.z), of(v.w));
    }
};

__global__ void __launch_bounds__(THREADS) row_softmax(const float *x, float *y, int64_t cols)
{
    __shared__ float part[2][WARPS];
    const float *in = x + blockIdx.x * cols;
    float *out = y + blockIdx.x * cols;
    const Parts parts(in, cols);

    RowMax top;
    each<RowMax &>(in, parts, top);
    float max = block_reduce<true>(top.max, part[0]);

    RowSum sum{max};
    each<RowSum &>(in, parts, sum);
    float scale = 1.0f / block_reduce<false>(sum.sum, part[1]);

    each(in, parts, Store{max, scale, out, reinterpret_cast<float4 *>(out + parts.head)});
}

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    row_softmax<<<(unsigned)rows, THREADS, 0, stream>>>(x, y, cols);
    return (int)cudaGetLastError();
}
