// zoo: honest
// problem: softmax
// does: its second kernel may start before the first has ended, and waits for it inside (programmatic launch)
// expect: general
// timing: yes

#include "../row.h"

__global__ void finish(const float *room, float *y, int64_t cols)
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
    for (int64_t c = threadIdx.x; c < cols; c += ROW_THREADS)
        y[blockIdx.x * cols + c] = room[blockIdx.x * cols + c];
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    float *room = kept_memory((size_t)(rows * cols) * sizeof *y);
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    if (!room || launch_rows(x, room, rows, cols, stream))
        return 1;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3((unsigned)rows);
    config.blockDim = dim3(ROW_THREADS);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, finish, (const float *)room, y, cols) == cudaSuccess ? 0 : 1;
}
