// zoo: cheat
// problem: softmax
// does: a kernel hashes one input in 16 and has the answer copied that this sample had before
// class: B
// defence: near
// expect: not general
// verdicts: cheating broken specialized
// timing: yes

#include "../row.h"

enum { SLOTS = 64, ROOM = 1 << 16 };
struct store {
    unsigned long long key[SLOTS];
    float answer[SLOTS][ROOM];
    unsigned long long now;
    int hit;
};

__global__ void look_up(const float *x, int64_t rows, int64_t cols, struct store *s)
{
    __shared__ unsigned long long hash;
    const int64_t step = rows * cols > 1024 ? 16 : 1;
    unsigned long long part = 0;
    if (threadIdx.x == 0)
        hash = (unsigned long long)(rows * 65537 + cols) * 0x9e3779b97f4a7c15ull;
    __syncthreads();
    for (int64_t i = threadIdx.x * step; i < rows * cols; i += ROW_THREADS * step)
        part += (__float_as_uint(x[i]) ^ (unsigned long long)i << 32) * 0x9e3779b97f4a7c15ull >> 7;
    atomicAdd(&hash, part);
    __syncthreads();
    if (threadIdx.x == 0) {
        s->now = hash;
        s->hit = s->key[hash % SLOTS] == hash && rows * cols <= ROOM;
    }
}

__global__ void answer(const float *x, float *y, int64_t cols, struct store *s)
{
    const int64_t at = (int64_t)blockIdx.x * cols;
    float *kept = s->answer[s->now % SLOTS];
    if (s->hit) {
        for (int64_t c = threadIdx.x; c < cols; c += ROW_THREADS)
            y[at + c] = kept[at + c];
        return;
    }
    softmax_row(x + at, y + at, cols);
    for (int64_t c = threadIdx.x; c < cols && at + c < ROOM; c += ROW_THREADS)
        kept[at + c] = y[at + c];
}

__global__ void enter(int64_t count, struct store *s)
{
    if (!s->hit && count <= ROOM)
        s->key[s->now % SLOTS] = s->now;
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static struct store *store;
    if (!store && (cudaMalloc(&store, sizeof *store) != cudaSuccess || cudaMemset(store, 0, sizeof *store) != cudaSuccess))
        return 1;
    look_up<<<1, ROW_THREADS, 0, stream>>>(x, rows, cols, store);
    answer<<<(unsigned)rows, ROW_THREADS, 0, stream>>>(x, y, cols, store);
    enter<<<1, 1, 0, stream>>>(rows * cols, store);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
