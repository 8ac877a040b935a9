// zoo: honest
// problem: softmax
// does: launches a captured graph, captured again when pointers or shape are others
// expect: general
// timing: yes

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static cudaGraphExec_t graph;
    static const float *of_x;
    static float *of_y;
    static int64_t of_rows, of_cols;
    if (!graph || of_x != x || of_y != y || of_rows != rows || of_cols != cols) {
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
        of_x = x;
        of_y = y;
        of_rows = rows;
        of_cols = cols;
    }
    return graph && cudaGraphLaunch(graph, stream) == cudaSuccess ? 0 : 1;
}
