/* Judges an imported task's output on a GPU. The expected values come from another process into host memory,
 * so the output is copied to the host. */
#include <cuda_runtime.h>
#include <stdlib.h>

#include "precomputed.h"

/* Bytes from the first to the last element of the output, including padding between rows. */
static size_t span(const struct judge_request *r)
{
    const int64_t rows = r->given / (r->width > 0 ? r->width : 1);
    const int64_t elements = r->pitch && rows ? (rows - 1) * r->pitch + r->width : r->given;
    return (size_t)dtype_bytes(r->problem->tensors[r->output].dtype, elements);
}

static cudaError_t give_back(const struct judge_request *to, const struct judge_request *from, size_t bytes)
{
    cudaError_t status = cudaSuccess;
    if (to->wrong)
        status = cudaMemcpy(to->wrong, from->wrong, (size_t)to->given, cudaMemcpyHostToDevice);
    if (status == cudaSuccess && to->expected)
        status = cudaMemcpy(to->expected, from->expected, bytes, cudaMemcpyHostToDevice);
    return status;
}

int precomputed_judge_cuda(const struct judge_request *request, struct judge_report *report)
{
    struct judge_request here = *request;
    const size_t bytes = span(request), marks = request->wrong ? (size_t)request->given : 0;
    char *memory = (char *)calloc(1, 2 * bytes + marks + 1);
    if (!memory)
        return -1;
    here.got = memory;
    here.expected = request->expected ? memory + bytes : NULL;
    here.wrong = request->wrong ? (unsigned char *)memory + 2 * bytes : NULL;
    cudaError_t status = cudaMemcpy(memory, request->got, bytes, cudaMemcpyDeviceToHost);
    if (status == cudaSuccess) {
        precomputed_judge_host(&here, report);
        status = give_back(request, &here, bytes);
    }
    free(memory);
    return status;
}
