/* fill.h on the GPU, one thread per element, cuRAND's Philox in the kernel. */
#include "fill.h"

#include <cuda_runtime.h>
#include <curand_philox4x32_x.h>
#include <stdlib.h>

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

/* Arguments of a fill kernel, passed by value; pointers are device copies of the fill's tables. */
struct fill_job {
    struct fill fill, source;
    struct philox_key key, source_key;
    enum dtype dtype;
    int64_t count, width, pitch;
    const int32_t *valid;
    const int64_t *start;
    int content;
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
                value = value_garbage(i, job.content);
        }
        value_store(job.dtype, out, format_place(job.width, job.pitch, i), value);
    }
}

static __global__ void plant_kernel(const __grid_constant__ struct fill_job job, void *out)
{
    for (int i = 0; i < job.fill.planted_count; i++)
        value_store(job.dtype, out, format_place(job.width, job.pitch, job.fill.planted[i].index),
                    job.fill.planted[i].value);
}

static cudaError_t upload(const void *host, size_t bytes, void **device)
{
    cudaError_t error = cudaMallocAsync(device, bytes ? bytes : 1, 0);
    return error ? error : cudaMemcpy(*device, host, bytes, cudaMemcpyHostToDevice);
}

/* Creates the values on the host in the tensor's dtype, and copies them row by row. */
static cudaError_t copy_given(const struct instance_tensor *tensor, enum dtype dtype, void *out)
{
    const int64_t count = instance_tensor_count(tensor), width = instance_tensor_width(tensor);
    const size_t row = (size_t)dtype_bytes(dtype, width);
    const size_t pitch = (size_t)dtype_bytes(dtype, instance_tensor_pitch(tensor));
    void *dense = malloc((size_t)dtype_bytes(dtype, count));
    if (!dense)
        return cudaErrorMemoryAllocation;
    fill_given(&tensor->fill, dtype, count, dense);
    const cudaError_t error =
        cudaMemcpy2D(out, pitch, dense, row, row, (size_t)(count / width), cudaMemcpyHostToDevice);
    free(dense);
    return error;
}

extern "C" int fill_cuda(const struct problem *problem, const struct instance *instance, int number,
                         uint64_t seed, int content, void *out)
{
    const struct instance_tensor *tensor = &instance->tensor[number];
    const struct fill *fill = &tensor->fill;
    const int64_t count = instance_tensor_count(tensor);
    const enum dtype dtype = problem->tensors[number].dtype;
    const int of = fill->steady ? 0 : content;
    void *valid = NULL, *start = NULL;
    cudaError_t error = cudaSuccess;

    if (count == 0)
        return cudaSuccess;
    if (fill->kind == FILL_GIVEN && dtype == DTYPE_I32 && tensor->pitch == 0)
        return cudaMemcpy(out, fill->given, (size_t)count * sizeof(int32_t), cudaMemcpyHostToDevice);
    if (fill->kind == FILL_GIVEN)
        return copy_given(tensor, dtype, out);
    if (fill->valid)
        error = upload(fill->valid, (size_t)fill->valids * sizeof(int32_t), &valid);
    if (!error && fill->start)
        error = upload(fill->start, (size_t)fill->starts * sizeof(int64_t), &start);
    if (!error) {
        struct fill_job job = {*fill,
                               instance->tensor[fill->source].fill,
                               fill_key(problem, seed, of, number),
                               fill_key(problem, seed, of, fill->source),
                               dtype,
                               count,
                               instance_tensor_width(tensor),
                               tensor->pitch,
                               (const int32_t *)valid,
                               (const int64_t *)start,
                               content};
        const int64_t blocks = (count + 255) / 256;
        fill_kernel<<<(unsigned)(blocks < 65536 ? blocks : 65536), 256>>>(job, out);
        if (fill->planted_count)
            plant_kernel<<<1, 1>>>(job, out);
        error = cudaGetLastError();
    }
    if (valid)
        cudaFreeAsync(valid, 0);
    if (start)
        cudaFreeAsync(start, 0);
    return error;
}
