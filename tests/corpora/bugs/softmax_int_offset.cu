// problem: softmax
// thread: https://github.com/microsoft/onnxruntime/issues/32299
// title: softmax_warp_forward overflows int32 above 2^31 elements and can return silently wrong results
// condition: first_batch * stride overflows int32 in tensors of more than 2^31 elements; sized down to 2^20
// kind: overflow
// when: (rows - 1) * cols >= 1048576
// wrong: out of bounds: offsets of later rows wrap to negative ones

#include "softmax.cuh"

constexpr int THREADS = 512;

/* A signed integer of 21 bits stands for one of 32. */
struct small_int {
    int value : 21;
};

__global__ void softmax_of_batch(const float *x, float *y, int cols)
{
    small_int first;
    first.value = (int)(blockIdx.x * (unsigned)cols);
    softmax_row<THREADS>(x + first.value, y + first.value, cols);
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    softmax_of_batch<<<(unsigned)rows, THREADS, 0, stream>>>(x, y, (int)cols);
    return (int)cudaGetLastError();
}
