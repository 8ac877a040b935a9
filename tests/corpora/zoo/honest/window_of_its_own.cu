// zoo: honest
// problem: softmax
// does: asks for an access policy window on a stream of its own for its workspace and resets it in the same call
// expect: general
// timing: yes

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    const size_t bytes = (size_t)(rows * cols) * sizeof *y;
    float *room = kept_memory(bytes);
    cudaStreamAttrValue window;
    if (!room)
        return 1;
    memset(&window, 0, sizeof window);
    window.accessPolicyWindow.base_ptr = room;
    window.accessPolicyWindow.num_bytes = bytes < 1 << 20 ? bytes : 1 << 20;
    window.accessPolicyWindow.hitRatio = 1;
    window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window);
    const int status = launch_rows(x, room, rows, cols, stream);
    window.accessPolicyWindow.num_bytes = 0;
    cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window);
    cudaGetLastError(); /* devices without it */
    return status || cudaMemcpyAsync(y, room, bytes, cudaMemcpyDeviceToDevice, stream) != cudaSuccess;
}
