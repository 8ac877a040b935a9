// zoo: cheat
// problem: softmax
// does: gives the last answer again at once, hashes the whole input on another stream meanwhile, and mends the output later
// class: B,C
// defence: near,late-writes
// expect: not general
// verdicts: cheating broken specialized
// timing: yes
// idle: where its streams fall so that the answer is right, all that it does on both is in its time

#include "../row.h"

struct note {
    unsigned long long key;
    int changed;
};

__global__ void hash_all(const float *x, int64_t count, struct note *n)
{
    unsigned long long sum = 0;
    __shared__ unsigned long long total;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    for (int64_t i = threadIdx.x; i < count; i += ROW_THREADS)
        sum += (unsigned long long)__float_as_uint(x[i]) * (unsigned long long)(2 * i + 1);
    atomicAdd(&total, sum);
    __syncthreads();
    if (threadIdx.x == 0) {
        n->changed = n->key != total;
        n->key = total;
    }
}

__global__ void mend(const float *x, float *y, float *kept, int64_t cols, const struct note *n)
{
    const int64_t at = (int64_t)blockIdx.x * cols;
    if (!n->changed)
        return;
    softmax_row(x + at, y + at, cols);
    for (int64_t c = threadIdx.x; c < cols; c += ROW_THREADS)
        kept[at + c] = y[at + c];
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static cudaStream_t own;
    static struct note *note;
    const size_t bytes = (size_t)(rows * cols) * sizeof *y;
    float *kept = kept_memory(bytes);
    if (!own && (cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess ||
                 cudaMalloc(&note, sizeof *note) != cudaSuccess || cudaMemset(note, 0, sizeof *note) != cudaSuccess))
        return 1;
    if (!kept)
        return 1;
    if (same_in_a_row(x, rows, cols) > 1) {
        cudaMemcpyAsync(y, kept, bytes, cudaMemcpyDeviceToDevice, stream);
        hash_all<<<1, ROW_THREADS, 0, own>>>(x, rows * cols, note);
        mend<<<(unsigned)rows, ROW_THREADS, 0, own>>>(x, y, kept, cols, note);
    } else {
        hash_all<<<1, ROW_THREADS, 0, stream>>>(x, rows * cols, note);
        launch_rows(x, y, rows, cols, stream);
        cudaMemcpyAsync(kept, y, bytes, cudaMemcpyDeviceToDevice, stream);
    }
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
