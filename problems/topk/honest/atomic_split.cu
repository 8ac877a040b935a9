// problem: topk
// verdict: general
// construction: several blocks a row count digits of ranks with atomics in global memory, 8 bits a
//   kernel; what is found goes where an atomic counter says, equals as they come; then a sort

#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 256, SPAN = 8192, MAX_K = 4096; /* SPAN: columns a block */

/* A row's progress: of the ranks whose digits so far are `prefix`, `wanted` belong to the k. */
struct State {
    uint32_t prefix;
    int wanted, found, ties;
    int count[256];
};

/* The smaller the rank, the larger the float; on bits the function is its own inverse. */
__device__ uint32_t rank_of(uint32_t bits)
{
    return bits >> 31 ? bits : bits ^ 0x7fffffffu;
}

struct Span {
    int64_t row, from, to;
    __device__ Span(int64_t n, int spans)
    {
        row = blockIdx.x / spans;
        from = (int64_t)(blockIdx.x % spans) * SPAN;
        to = from + SPAN < n ? from + SPAN : n;
    }
};

__global__ void start(State *states, int k)
{
    State &state = states[blockIdx.x];
    state.count[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        state.prefix = 0;
        state.wanted = k;
        state.found = state.ties = 0;
    }
}

__global__ void count_digits(const float *x, State *states, int64_t n, int spans, int shift)
{
    __shared__ int count[256];
    const Span span(n, spans);
    State &state = states[span.row];
    const uint32_t prefix = state.prefix;
    count[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t c = span.from + threadIdx.x; c < span.to; c += THREADS) {
        uint32_t rank = rank_of(__float_as_uint(x[span.row * n + c]));
        if ((uint64_t)rank >> shift >> 8 == prefix)
            atomicAdd(&count[rank >> shift & 255], 1);
    }
    __syncthreads();
    if (count[threadIdx.x] > 0)
        atomicAdd(&state.count[threadIdx.x], count[threadIdx.x]);
}

__global__ void choose_digit(State *states)
{
    __shared__ int count[256];
    State &state = states[blockIdx.x];
    count[threadIdx.x] = state.count[threadIdx.x];
    state.count[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        int digit = 0, wanted = state.wanted;
        while (wanted > count[digit])
            wanted -= count[digit++];
        state.prefix = state.prefix << 8 | (uint32_t)digit;
        state.wanted = wanted;
    }
}

/* prefix is the k-th rank now: all before it, and as many of its equals as are wanted. */
__global__ void gather(const float *x, State *states, uint64_t *keys, int64_t n, int k, int spans)
{
    const Span span(n, spans);
    State &state = states[span.row];
    for (int64_t c = span.from + threadIdx.x; c < span.to; c += THREADS) {
        uint32_t rank = rank_of(__float_as_uint(x[span.row * n + c]));
        if (rank > state.prefix)
            continue;
        if (rank < state.prefix || atomicAdd(&state.ties, 1) < state.wanted)
            keys[span.row * k + atomicAdd(&state.found, 1)] = (uint64_t)rank << 32 | (uint64_t)c;
    }
}

__global__ void sort_row(const uint64_t *keys, float *values, int64_t *indices, int k, int size)
{
    __shared__ uint64_t key[MAX_K];
    const int64_t out = (int64_t)blockIdx.x * k;
    for (int i = threadIdx.x; i < size; i += THREADS)
        key[i] = i < k ? keys[out + i] : ~(uint64_t)0;
    for (int run = 2; run <= size; run *= 2) {
        for (int step = run / 2; step > 0; step /= 2) {
            __syncthreads();
            for (int t = threadIdx.x; t < size / 2; t += THREADS) {
                int low = 2 * t - (t & (step - 1)), high = low + step;
                uint64_t a = key[low], b = key[high];
                if ((a > b) == ((low & run) == 0)) {
                    key[low] = b;
                    key[high] = a;
                }
            }
        }
    }
    __syncthreads();
    for (int j = threadIdx.x; j < k; j += THREADS) {
        values[out + j] = __uint_as_float(rank_of((uint32_t)(key[j] >> 32)));
        indices[out + j] = (int64_t)(key[j] & 0xffffffffu);
    }
}

/* x is [rows, n]; values and indices are [rows, k], best first */
extern "C" int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n,
                    int64_t k, cudaStream_t stream)
{
    const int spans = (int)((n + SPAN - 1) / SPAN);
    const unsigned blocks = (unsigned)(rows * spans);
    const size_t state_bytes = (size_t)rows * sizeof(State);
    const size_t key_bytes = (size_t)(rows * k) * sizeof(uint64_t);
    char *work;
    int size = 1;
    while (size < k)
        size *= 2;
    cudaError_t status = cudaMallocAsync((void **)&work, state_bytes + key_bytes, stream);
    if (status != cudaSuccess)
        return (int)status;
    State *states = (State *)work;
    uint64_t *keys = (uint64_t *)(work + state_bytes);
    start<<<(unsigned)rows, 256, 0, stream>>>(states, (int)k);
    for (int shift = 24; shift >= 0; shift -= 8) {
        count_digits<<<blocks, THREADS, 0, stream>>>(x, states, n, spans, shift);
        choose_digit<<<(unsigned)rows, 256, 0, stream>>>(states);
    }
    gather<<<blocks, THREADS, 0, stream>>>(x, states, keys, n, (int)k, spans);
    sort_row<<<(unsigned)rows, THREADS, 0, stream>>>(keys, values, indices, (int)k, size);
    status = cudaGetLastError();
    cudaFreeAsync(work, stream);
    return (int)status;
}
