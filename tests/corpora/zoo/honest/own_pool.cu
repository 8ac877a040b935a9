// zoo: honest
// problem: softmax
// does: has a memory pool of its own that keeps what it was given
// expect: general
// timing: yes

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static cudaMemPool_t pool;
    float *room = NULL;
    const size_t bytes = (size_t)(rows * cols) * sizeof *y;
    if (!pool) {
        cudaMemPoolProps properties = {};
        uint64_t keep = UINT64_MAX;
        properties.allocType = cudaMemAllocationTypePinned;
        properties.location.type = cudaMemLocationTypeDevice;
        cudaGetDevice(&properties.location.id);
        if (cudaMemPoolCreate(&pool, &properties) != cudaSuccess)
            return 1;
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    }
    if (cudaMallocFromPoolAsync(&room, bytes, pool, stream) != cudaSuccess || launch_rows(x, room, rows, cols, stream))
        return 1;
    cudaMemcpyAsync(y, room, bytes, cudaMemcpyDeviceToDevice, stream);
    return cudaFreeAsync(room, stream) != cudaSuccess;
}
