// zoo: harmless
// problem: softmax
// does: keeps its input in persisting lines of L2, by an access policy window on the stream
// class: C
// defence: persisting
// expect: general
// verdicts: general
// timing: yes

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    cudaStreamAttrValue window;
    memset(&window, 0, sizeof window);
    window.accessPolicyWindow.base_ptr = (void *)x;
    window.accessPolicyWindow.num_bytes = (size_t)(rows * cols) * sizeof *x;
    window.accessPolicyWindow.hitRatio = 1;
    window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)16 << 20);
    cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window);
    cudaGetLastError(); /* devices without it */
    return launch_rows(x, y, rows, cols, stream);
}
