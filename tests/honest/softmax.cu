/* softmax with switches, in CUDA. A thread has a split of a row, or a warp where a tile has 32 lanes. A
 * second kernel merges splits, and a third one has a thread for each result. */
#include "honest.h"

#include "softmax.h"

const struct honest_switch honest_switches[] = {SOFTMAX_SWITCHES};
const struct honest_mutant honest_mutants[] = {SOFTMAX_MUTANTS};

namespace {

constexpr int THREADS = 128, WARP = 32;
constexpr unsigned EVERYONE = 0xffffffffu;

/* Arguments of all kernels of a call; part is [rows, splits], known [rows]. */
struct call {
    const float *x;
    float *y;
    double *wide;
    int64_t rows, cols;
    part *parts;
    float *known;
    how chosen;
};

__device__ row row_at(const call &c, int64_t number)
{
    return row{c.x + number * c.cols, c.cols, number, c.chosen};
}

__global__ void maxima(call c)
{
    for (int64_t r = (int64_t)blockIdx.x * THREADS + threadIdx.x; r < c.rows; r += (int64_t)gridDim.x * THREADS) {
        const row one = row_at(c, r);
        c.known[r] = row_chose(&one, PASS, PASS_MAX_FIRST) ? row_max(&one) : 0;
    }
}

__global__ void split_by_threads(call c, int64_t splits)
{
    const int64_t count = c.rows * splits;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (int64_t)gridDim.x * THREADS) {
        const row one = row_at(c, i / splits);
        c.parts[i] = row_split(&one, i % splits, c.known[i / splits]);
    }
}

/* Every lane ends up with the sum of all. */
__device__ part warp_join(const row &one, part mine)
{
    for (int gap = WARP / 2; gap; gap /= 2) {
        const part other = {__shfl_xor_sync(EVERYONE, mine.max, gap), __shfl_xor_sync(EVERYONE, mine.sum, gap)};
        mine = row_join(&one, mine, other);
    }
    return mine;
}

/* A tile with a lane for each of its chains. */
__device__ part warp_tile(const row &one, int64_t from, int64_t end, float known)
{
    const int64_t lane = threadIdx.x % WARP, length = (end - from + WARP - 1) / WARP;
    const bool apart = row_chose(&one, LAYOUT, LAYOUT_INTERLEAVED);
    const int64_t first = apart ? from + lane : from + lane * length;
    const int64_t last = apart || first + length > end ? end : first + length;
    const float max = row_chose(&one, PASS, PASS_TILES) ? row_greatest(&one, from, end) : known;
    const part nothing = {-INFINITY, 0};
    return warp_join(one, first < end ? row_chain(&one, first, last, apart ? WARP : 1, max) : nothing);
}

__device__ part warp_part(const row &one, int64_t from, int64_t end, float known)
{
    const int64_t size = row_tile_size(&one, end - from);
    part total = {-INFINITY, 0};
    for (int64_t at = from; at < end; at += size)
        total = row_join(&one, total, warp_tile(one, at, at + size < end ? at + size : end, known));
    return total;
}

/* A warp for each split; all of its lanes go the same way. */
__global__ void split_by_warps(call c, int64_t splits)
{
    const int64_t count = c.rows * splits, warps = (int64_t)gridDim.x * THREADS / WARP;
    for (int64_t i = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / WARP; i < count; i += warps) {
        const row one = row_at(c, i / splits);
        const int64_t s = i % splits;
        const part p = warp_part(one, s * c.cols / splits, (s + 1) * c.cols / splits, c.known[i / splits]);
        if (threadIdx.x % WARP == 0)
            c.parts[i] = p;
    }
}

/* The row's part ends up in the place of its first. */
__global__ void merge(call c, int64_t splits)
{
    for (int64_t r = (int64_t)blockIdx.x * THREADS + threadIdx.x; r < c.rows; r += (int64_t)gridDim.x * THREADS) {
        const row one = row_at(c, r);
        c.parts[r * splits] = row_merge(&one, c.parts + r * splits, splits);
    }
}

__global__ void results(call c, int64_t splits)
{
    const int64_t count = c.rows * c.cols;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (int64_t)gridDim.x * THREADS) {
        const int64_t r = i / c.cols;
        const row one = row_at(c, r);
        c.y[i] = row_result(&one, i % c.cols, c.parts[r * splits]);
        if (c.wide)
            c.wide[i] = (double)c.y[i];
    }
}

unsigned blocks_for(int64_t threads)
{
    const int64_t blocks = (threads + THREADS - 1) / THREADS;
    return (unsigned)(blocks < 65536 ? blocks : 65536);
}

void launch(const call &c, int64_t splits, cudaStream_t stream)
{
    maxima<<<blocks_for(c.rows), THREADS, 0, stream>>>(c);
    if (how_number(&c.chosen, LANES) == WARP)
        split_by_warps<<<blocks_for(c.rows * splits * WARP), THREADS, 0, stream>>>(c, splits);
    else
        split_by_threads<<<blocks_for(c.rows * splits), THREADS, 0, stream>>>(c, splits);
    merge<<<blocks_for(c.rows), THREADS, 0, stream>>>(c, splits);
    results<<<blocks_for(c.rows * c.cols), THREADS, 0, stream>>>(c, splits);
}

} // namespace

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    call c = {x, y, honest_unrounded, rows, cols, nullptr, nullptr, how_to(honest_choice, honest_mutating)};
    const row any = {x, cols, 0, c.chosen};
    const int64_t splits = row_splits(&any);
    cudaError_t error = cudaMallocAsync((void **)&c.parts, (size_t)(rows * splits) * sizeof(part), stream);
    if (!error)
        error = cudaMallocAsync((void **)&c.known, (size_t)rows * sizeof(float), stream);
    if (!error) {
        launch(c, splits, stream);
        error = cudaGetLastError();
    }
    if (c.parts)
        cudaFreeAsync(c.parts, stream);
    if (c.known)
        cudaFreeAsync(c.known, stream);
    return error != cudaSuccess;
}
