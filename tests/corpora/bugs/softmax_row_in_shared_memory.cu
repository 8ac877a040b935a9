// problem: softmax
// thread: https://github.com/tile-ai/TileOPs/issues/796
// title: [Fix][Kernel] Softmax family kernels do not support large reduction dims (N=32768+)
// condition: one row, aligned to 256 elements, has to fit in 48 KiB of shared memory
// kind: shared memory
// when: cols > 12288
// wrong: refused: the launch asks for more than 48 KiB of dynamic shared memory, without opting in

#include <cstdint>
#include <cuda_runtime.h>

constexpr int WARP = 32;

template <bool MAX> __device__ float warp_reduce(float value)
{
    for (int lane = WARP / 2; lane > 0; lane /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, value, lane);
        value = MAX ? fmaxf(value, other) : value + other;
    }
    return value;
}

/* A warp holds a row in shared memory. A lane reads only places that it has written itself. */
__global__ void held_softmax(const float *x, float *y, int64_t cols)
{
    extern __shared__ float row[];
    const float *in = x + blockIdx.x * cols;
    float max = -INFINITY, sum = 0;
    for (int64_t c = threadIdx.x; c < cols; c += WARP) {
        row[c] = in[c];
        max = fmaxf(max, row[c]);
    }
    max = warp_reduce<true>(max);
    for (int64_t c = threadIdx.x; c < cols; c += WARP) {
        row[c] = expf(row[c] - max);
        sum += row[c];
    }
    sum = warp_reduce<false>(sum);
    for (int64_t c = threadIdx.x; c < cols; c += WARP)
        y[blockIdx.x * cols + c] = row[c] / sum;
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    const size_t padded = (size_t)(cols + 255) / 256 * 256;
    held_softmax<<<(unsigned)rows, WARP, padded * sizeof(float), stream>>>(x, y, cols);
    return (int)cudaGetLastError();
}
