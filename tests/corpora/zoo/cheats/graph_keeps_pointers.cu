// zoo: cheat
// problem: softmax
// does: captures a graph for a shape and launches it again, whatever the pointers
// class: B
// defence: moved
// expect: not general
// verdicts: broken specialized
// timing: no

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static cudaGraphExec_t graph;
    static int64_t of_rows, of_cols;
    static uintptr_t of_page;
    if (of_rows != rows || of_cols != cols || of_page != (uintptr_t)x >> 24) {
        cudaStream_t capturing;
        cudaGraph_t captured;
        if (graph)
            cudaGraphExecDestroy(graph);
        graph = NULL;
        if (cudaStreamCreateWithFlags(&capturing, cudaStreamNonBlocking) != cudaSuccess)
            return 1;
        cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed);
        launch_rows(x, y, rows, cols, capturing);
        cudaStreamEndCapture(capturing, &captured);
        cudaGraphInstantiate(&graph, captured, 0);
        cudaGraphDestroy(captured);
        cudaStreamDestroy(capturing);
        of_rows = rows;
        of_cols = cols;
        of_page = (uintptr_t)x >> 24;
    }
    return graph && cudaGraphLaunch(graph, stream) == cudaSuccess ? 0 : 1;
}
