// problem: topk
// verdict: general
// construction: cub sorts whole rows, ranks with their columns, some 2^25 elements at a time

#include <cstdint>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int64_t BATCH = 1 << 25; /* n <= 2^20: 32 rows at least */

/* The smaller the rank, the larger the float; on bits the function is its own inverse. */
__device__ uint32_t rank_of(uint32_t bits)
{
    return bits >> 31 ? bits : bits ^ 0x7fffffffu;
}

__device__ int64_t thread_index()
{
    return (int64_t)blockIdx.x * THREADS + threadIdx.x;
}

static unsigned blocks_for(int64_t threads)
{
    return (unsigned)((threads + THREADS - 1) / THREADS);
}

/* rank and column are [rows, n], start is [rows + 1] */
__global__ void prepare(const float *x, uint32_t *rank, int *column, int *start, int64_t rows,
                        int64_t n)
{
    int64_t i = thread_index();
    if (i <= rows)
        start[i] = (int)(i * n);
    if (i < rows * n) {
        rank[i] = rank_of(__float_as_uint(x[i]));
        column[i] = (int)(i % n);
    }
}

__global__ void take(const uint32_t *rank, const int *column, float *values, int64_t *indices,
                     int64_t rows, int64_t n, int64_t k)
{
    int64_t i = thread_index();
    if (i >= rows * k)
        return;
    int64_t from = i / k * n + i % k;
    values[i] = __uint_as_float(rank_of(rank[from]));
    indices[i] = column[from];
}

struct Work {
    uint32_t *rank, *sorted_rank;
    int *column, *sorted_column, *start;
    void *temporary;
    size_t bytes; /* of temporary */
};

static cudaError_t sort_rows(const Work &work, void *temporary, size_t &bytes, int64_t rows,
                             int64_t n, cudaStream_t stream)
{
    return cub::DeviceSegmentedRadixSort::SortPairs(
        temporary, bytes, work.rank, work.sorted_rank, work.column, work.sorted_column,
        (int)(rows * n), (int)rows, work.start, work.start + 1, 0, 32, stream);
}

/* One allocation for all: four arrays of `count`, the row starts, and what cub asks for. */
static cudaError_t allocate(Work &work, int64_t batch, int64_t n, cudaStream_t stream)
{
    const size_t count = (size_t)((batch * n + 3) / 4 * 4), starts = (size_t)(batch / 4 * 4 + 4);
    char *memory;
    cudaError_t status = sort_rows(work, nullptr, work.bytes, batch, n, stream);
    if (status != cudaSuccess)
        return status;
    status = cudaMallocAsync((void **)&memory, 4 * (4 * count + starts) + work.bytes, stream);
    if (status != cudaSuccess)
        return status;
    work.rank = (uint32_t *)memory;
    work.sorted_rank = work.rank + count;
    work.column = (int *)(work.sorted_rank + count);
    work.sorted_column = work.column + count;
    work.start = work.sorted_column + count;
    work.temporary = work.start + starts;
    return cudaSuccess;
}

/* x is [rows, n]; values and indices are [rows, k], best first */
extern "C" int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n,
                    int64_t k, cudaStream_t stream)
{
    const int64_t batch = rows < BATCH / n ? rows : BATCH / n;
    Work work = {};
    cudaError_t status = allocate(work, batch, n, stream);
    if (status != cudaSuccess)
        return (int)status;
    for (int64_t row = 0; row < rows && status == cudaSuccess; row += batch) {
        int64_t some = rows - row < batch ? rows - row : batch;
        prepare<<<blocks_for(some * n + 1), THREADS, 0, stream>>>(x + row * n, work.rank,
                                                                  work.column, work.start, some, n);
        status = sort_rows(work, work.temporary, work.bytes, some, n, stream);
        take<<<blocks_for(some * k), THREADS, 0, stream>>>(work.sorted_rank, work.sorted_column,
                                                           values + row * k, indices + row * k,
                                                           some, n, k);
    }
    if (status == cudaSuccess)
        status = cudaGetLastError();
    cudaFreeAsync(work.rank, stream);
    return (int)status;
}
