// zoo: honest
// problem: softmax
// does: launches clusters of two blocks that share what they found of a row
// expect: general
// timing: yes

#include "../row.h"
#include <cooperative_groups.h>

/* Each block of a pair has half of the columns. */
__global__ void pairs(const float *x, float *y, int64_t cols)
{
#if __CUDA_ARCH__ >= 900
    __shared__ float shared[ROW_THREADS], mine[2];
    cooperative_groups::cluster_group pair = cooperative_groups::this_cluster();
    const int64_t row = blockIdx.x / 2, half = (cols + 1) / 2;
    const int64_t from = pair.block_rank() * half, to = pair.block_rank() ? cols : half;
    const float *other = pair.map_shared_rank(mine, pair.block_rank() ^ 1);
    float most = -INFINITY, sum = 0;
    x += row * cols;
    y += row * cols;
    for (int64_t c = from + threadIdx.x; c < to; c += ROW_THREADS)
        most = fmaxf(most, x[c]);
    most = together<true>(most, shared);
    if (threadIdx.x == 0)
        mine[0] = most;
    pair.sync();
    most = fmaxf(most, other[0]);
    for (int64_t c = from + threadIdx.x; c < to; c += ROW_THREADS)
        sum += expf(x[c] - most);
    sum = together<false>(sum, shared);
    if (threadIdx.x == 0)
        mine[1] = sum;
    pair.sync();
    sum += other[1];
    for (int64_t c = from + threadIdx.x; c < to; c += ROW_THREADS)
        y[c] = expf(x[c] - most) / sum;
    pair.sync(); /* no block leaves while the other reads */
#endif
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = dim3((unsigned)(2 * rows));
    config.blockDim = dim3(ROW_THREADS);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, pairs, x, y, cols) == cudaSuccess ? 0 : 1;
}
