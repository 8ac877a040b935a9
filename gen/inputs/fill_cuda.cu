/* fill.h on the GPU, one thread per element, cuRAND's Philox in the kernel. */
#include "fill.h"

#include <cuda_runtime.h>
#include <curand_philox4x32_x.h>

#define VALUE_FN static __device__ __forceinline__
VALUE_FN void value_words(struct philox_key key, uint64_t block, uint32_t words[4])
{
    const uint4 c =
        make_uint4((unsigned)block, (unsigned)(block >> 32), (unsigned)key.high, (unsigned)(key.high >> 32));
    const uint4 w = curand_Philox4x32_10(c, make_uint2((unsigned)key.seed, (unsigned)(key.seed >> 32)));
    words[0] = w.x;
    words[1] = w.y;
    words[2] = w.z;
    words[3] = w.w;
}
#include "values.h"

/* What a fill kernel needs, by value; the pointers are device copies of the fill's tables. */
struct fill_job {
    struct fill fill, source;
    struct philox_key key, source_key;
    enum dtype dtype;
    int64_t count;
    const int32_t *valid;
    const int64_t *start;
};

static __global__ void fill_kernel(const __grid_constant__ struct fill_job job, void *out)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < job.count; i += step) {
        uint32_t words[4];
        float value;
        if (job.fill.kind == FILL_GATHER) {
            const int64_t at = job.start[i / job.fill.inner] + i % job.fill.inner;
            value_words(job.source_key, value_block(&job.source, at), words);
            value = job.fill.b * value_draw(&job.source, job.source_key, at, words);
        } else {
            value_words(job.key, value_block(&job.fill, i), words);
            value = value_draw(&job.fill, job.key, i, words);
            if (job.valid && !value_is_real(&job.fill, job.valid, i))
                value = value_garbage(i);
        }
        value_store(job.dtype, out, i, value);
    }
}

static __global__ void plant_kernel(const __grid_constant__ struct fill_job job, void *out)
{
    for (int i = 0; i < job.fill.planted_count; i++)
        value_store(job.dtype, out, job.fill.planted[i].index, job.fill.planted[i].value);
}

static cudaError_t upload(const void *host, size_t bytes, void **device)
{
    cudaError_t error = cudaMalloc(device, bytes ? bytes : 1);
    return error ? error : cudaMemcpy(*device, host, bytes, cudaMemcpyHostToDevice);
}

extern "C" int fill_cuda(const struct problem *problem, const struct instance *instance, int tensor,
                         uint64_t seed, int content, void *out)
{
    const struct fill *fill = &instance->tensor[tensor].fill;
    const int64_t count = instance_tensor_count(&instance->tensor[tensor]);
    const enum dtype dtype = problem->tensors[tensor].dtype;
    void *valid = NULL, *start = NULL;
    cudaError_t error = cudaSuccess;

    if (fill->kind == FILL_GIVEN)
        return cudaMemcpy(out, fill->given, (size_t)count * dtype_size(dtype), cudaMemcpyHostToDevice);
    if (fill->valid)
        error = upload(fill->valid, (size_t)fill->valids * sizeof(int32_t), &valid);
    if (!error && fill->start)
        error = upload(fill->start, (size_t)fill->starts * sizeof(int64_t), &start);
    if (!error) {
        struct fill_job job = {*fill,
                               instance->tensor[fill->source].fill,
                               fill_key(problem, seed, content, tensor),
                               fill_key(problem, seed, content, fill->source),
                               dtype,
                               count,
                               (const int32_t *)valid,
                               (const int64_t *)start};
        const int64_t blocks = (count + 255) / 256;
        fill_kernel<<<(unsigned)(blocks < 65536 ? blocks : 65536), 256>>>(job, out);
        if (fill->planted_count)
            plant_kernel<<<1, 1>>>(job, out);
        error = cudaGetLastError();
    }
    if (valid || start) { /* cudaFree waits for the kernel that reads them */
        cudaFree(valid);
        cudaFree(start);
    }
    return error;
}
