/* A plain softmax with one block for each row, between two more kernels. The first one reads the clock. The
 * last one spins, where cols is a multiple of EVERY, for PERCENT % of the time since then and of the time
 * between two events. (Blocks that spin by themselves hide their spin behind each other: of 5% it left 0.4 to
 * 4.9 on an H200.) The script beside it writes the two constants in front. Both are read at run time, so that
 * the code is the same for all values. */
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

static volatile double percent = PERCENT;
static volatile int64_t every = EVERY;

enum { THREADS = 256, WARPS = THREADS / 32 };

static __device__ float over_block(float value, bool is_max)
{
    __shared__ float part[WARPS];
    for (int offset = 16; offset > 0; offset /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, value, offset);
        value = is_max ? fmaxf(value, other) : value + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    value = part[0];
    for (int i = 1; i < WARPS; i++)
        value = is_max ? fmaxf(value, part[i]) : value + part[i];
    return value;
}

/* x, y are [rows, cols] */
static __global__ void softmax_rows(const float *x, float *y, int64_t cols)
{
    const float *const from = x + blockIdx.x * cols;
    float *const to = y + blockIdx.x * cols;
    float max = -INFINITY, sum = 0;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        max = fmaxf(max, from[c]);
    max = over_block(max, true);
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        sum += expf(from[c] - max);
    sum = over_block(sum, false);
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        to[c] = expf(from[c] - max) / sum;
}

static __device__ unsigned long long begun;

static __device__ unsigned long long nanoseconds(void)
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

static __global__ void begin(void)
{
    begun = nanoseconds();
}

static __global__ void linger(double part)
{
    /* Nanoseconds: three launches and the events; and what of a spin hides behind the end of its kernel (an H100). */
    const double beside = 4000, hidden = part > 0 ? 700 : 0;
    const unsigned long long now = nanoseconds(),
                             end = now + (unsigned long long)(((double)(now - begun) + beside) * part + hidden);
    while (nanoseconds() < end)
        ;
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    cudaStream_t on = (cudaStream_t)stream;
    begin<<<1, 1, 0, on>>>();
    softmax_rows<<<(unsigned)rows, THREADS, 0, on>>>(x, y, cols);
    linger<<<1, 1, 0, on>>>((cols % every == 0 ? percent : 0) / 100);
    return cudaGetLastError() != cudaSuccess;
}
