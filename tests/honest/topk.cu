/* topk with switches, in CUDA: a thread for each tile of a row, then, in another kernel, one for each row. */
#include "honest.h"

#include "topk.h"

const struct honest_switch honest_switches[] = {TOPK_SWITCHES};
const struct honest_mutant honest_mutants[] = {TOPK_MUTANTS};

namespace {

constexpr int THREADS = 64;
constexpr int64_t MOST_ENTRIES = (int64_t)1 << 27; /* in a batch of rows */

/* A batch: rows `first` to first + count - 1; entries is [count, n]. */
struct batch {
    const float *x;
    float *values;
    int64_t *indices;
    int64_t n, k, first, count;
    entry *entries;
    how chosen;
};

__host__ __device__ row row_at(const batch &b, int64_t i)
{
    const int64_t number = b.first + i;
    return row{b.x + number * b.n, b.n, b.k, number, b.entries + i * b.n, b.chosen};
}

__global__ void tiles_alone(batch b, int64_t tiles)
{
    const int64_t all = b.count * tiles;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < all; i += (int64_t)gridDim.x * THREADS) {
        const row r = row_at(b, i / tiles);
        row_tile(&r, i % tiles);
    }
}

__global__ void rows_merged(batch b)
{
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < b.count; i += (int64_t)gridDim.x * THREADS) {
        const row r = row_at(b, i);
        row_sort(&r, row_merge(&r));
        row_write(&r, b.values + r.number * b.k, b.indices + r.number * b.k);
    }
}

unsigned blocks_for(int64_t threads)
{
    const int64_t blocks = (threads + THREADS - 1) / THREADS;
    return (unsigned)(blocks < 65536 ? blocks : 65536);
}

} // namespace

/* x is [rows, n]; values and indices are [rows, k], best first */
extern "C" int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k,
                    cudaStream_t stream)
{
    int64_t most = MOST_ENTRIES / n;
    most = most < 1 ? 1 : most < rows ? most : rows;
    batch b = {x, values, indices, n, k, 0, most, nullptr, how_to(honest_choice, honest_mutating)};
    cudaError_t error = cudaMallocAsync((void **)&b.entries, (size_t)(most * n) * sizeof(entry), stream);
    if (error)
        return 1;
    for (b.first = 0; b.first < rows; b.first += most) {
        b.count = rows - b.first < most ? rows - b.first : most;
        const row any = row_at(b, 0);
        const int64_t tiles = row_tiles(&any);
        tiles_alone<<<blocks_for(b.count * tiles), THREADS, 0, stream>>>(b, tiles);
        rows_merged<<<blocks_for(b.count), THREADS, 0, stream>>>(b);
    }
    error = cudaGetLastError();
    cudaFreeAsync(b.entries, stream);
    return error != cudaSuccess;
}
