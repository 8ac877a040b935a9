// problem: softmax
// thread: https://github.com/gabrieldemarmiesse/torch-mojo-backend/pull/319
// title: log_softmax fwd: fix NaN on rows narrower than one block pass and on -inf inputs
// condition: every fp32 row below 1024 columns (threads times vector) came back all NaN
// kind: small size
// when: cols < 1024
// side: necessary
// wrong: NaN: a thread that sees no vector adds exp(-inf - -inf) to its sum

#include "softmax.cuh"

#include <cfloat>

constexpr int THREADS = 256, VECTOR = 4;

/* A thread's running maximum and the sum of exponentials below it. */
struct running {
    float max, sum;
};

/* A masked logit is the lowest finite number, so that a maximum of such can be subtracted. */
__device__ float logit(float x)
{
    return x == -INFINITY ? -FLT_MAX : x;
}

__device__ running see(running r, const float *x, int count)
{
    float max = r.max, part = 0;
    for (int i = 0; i < count; i++)
        max = fmaxf(max, x[i]);
    for (int i = 0; i < count; i++)
        part += expf(x[i] - max);
    return {max, r.sum * expf(r.max - max) + part};
}

/* The fault: every thread takes a vector, which past the row is -inf, not the lowest finite number. */
__device__ running see_vectors(const float *in, int64_t whole)
{
    running r = {-INFINITY, 0};
    int64_t at = threadIdx.x * VECTOR;
    do {
        float x[VECTOR];
        for (int i = 0; i < VECTOR; i++)
            x[i] = at < whole ? logit(in[at + i]) : -INFINITY;
        r = see(r, x, VECTOR);
        at += THREADS * VECTOR;
    } while (at < whole);
    return r;
}

/* The last columns, fewer than a vector, are the first thread's. A row of -inf alone is NaN. */
__global__ void vector_softmax(const float *x, float *y, int64_t cols)
{
    const float *in = x + blockIdx.x * cols;
    const int64_t whole = cols / VECTOR * VECTOR;
    running r = see_vectors(in, whole);
    for (int64_t c = whole; c < cols && threadIdx.x == 0; c++) {
        const float x = logit(in[c]);
        r = see(r, &x, 1);
    }
    float max = block_reduce<true, THREADS>(r.max);
    const float sum = block_reduce<false, THREADS>(r.sum * expf(r.max - max));
    max = max == -FLT_MAX ? -INFINITY : max;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        y[blockIdx.x * cols + c] = expf(in[c] - max) / sum;
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    vector_softmax<<<(unsigned)rows, THREADS, 0, stream>>>(x, y, cols);
    return (int)cudaGetLastError();
}
