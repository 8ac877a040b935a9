// problem: layer_norm
// thread: https://github.com/microsoft/onnxruntime/pull/17943
// title: [CUDA] Fix SkipLayerNorm vectorized kernel out-of-bounds read
// condition: the hidden size is not exactly the next size of the list (320), and the vectorized kernel is chosen
// kind: equality
// when: cols % 4 == 0 and cols < 2048 and cols != 128 and cols != 384 and cols != 768 and cols != 1024
// wrong: out of bounds: the last row is read up to the next size

#define layer_norm honest_layer_norm
#include "../../../problems/layer_norm/baseline.cu"
#undef layer_norm

/* The sum of a value of each thread of whole warps, in all of them. */
template <int WARPS> __device__ float warps_sum(float value)
{
    __shared__ float of_warp[WARPS];
    for (int lane = 16; lane > 0; lane /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lane);
    __syncthreads(); /* all have read the sums before */
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0;
    for (int w = 0; w < WARPS; w++)
        sum += of_warp[w];
    return sum;
}

/* The fault: a thread for each vector of SIZE elements, all of which load. */
template <int SIZE>
__global__ void sized_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
                           int cols, float eps)
{
    __shared__ float4 vector[SIZE / 4];
    const float *row = (const float *)vector;
    const int64_t first = (int64_t)blockIdx.x * cols;
    float sum = 0, squares = 0;
    vector[threadIdx.x] = ((const float4 *)(x + first))[threadIdx.x];
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += SIZE / 4)
        sum += row[c];
    const float m = warps_sum<SIZE / 128>(sum) / (float)cols;
    for (int c = threadIdx.x; c < cols; c += SIZE / 4)
        squares += (row[c] - m) * (row[c] - m);
    const float scale = 1 / sqrtf(warps_sum<SIZE / 128>(squares) / (float)cols + eps);
    for (int c = threadIdx.x; c < cols; c += SIZE / 4)
        y[first + c] = (row[c] - m) * scale * gamma[c] + beta[c];
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = m;
        rstd[blockIdx.x] = scale;
    }
}

extern "C" int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
                          int64_t rows, int64_t cols, float eps, cudaStream_t stream)
{
    if (cols % 4 != 0 || cols > 2048)
        return honest_layer_norm(x, gamma, beta, y, mean, rstd, rows, cols, eps, stream);
    const int sizes[] = {128, 384, 768, 1024, 2048};
    decltype(&sized_norm<128>) const kernels[] = {sized_norm<128>, sized_norm<384>, sized_norm<768>, sized_norm<1024>,
                                                  sized_norm<2048>};
    int next = 0;
    while (sizes[next] < cols)
        next++;
    kernels[next]<<<(unsigned)rows, sizes[next] / 4, 0, stream>>>(x, gamma, beta, y, mean, rstd, (int)cols, eps);
    return (int)cudaGetLastError();
}
