/* paged_attention with switches on a GPU. A thread has an element of a stage, or a warp has sixteen tokens
 * at a time where real matrix units are used. One kernel fills the splits of a row, and another one merges
 * them. */
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include "honest.h"

#include "paged_attention.h"

namespace {

using namespace nvcuda;

constexpr int BLOCK = 128, T = 16;
constexpr size_t MOST_BYTES = size_t(1) << 29; /* the memory of the rows at work, unless one row needs more */

typedef wmma::fragment<wmma::matrix_a, T, T, T, __nv_bfloat16, wmma::row_major> RowsA;
typedef wmma::fragment<wmma::matrix_b, T, T, T, __nv_bfloat16, wmma::row_major> RowsB;
typedef wmma::fragment<wmma::matrix_b, T, T, T, __nv_bfloat16, wmma::col_major> ColumnsB;
typedef wmma::fragment<wmma::accumulator, T, T, T, float> Sum;

/* For `rows` rows from `first` on. score is [rows, tokens], rescale [rows, tokens + splits], part [rows,
 * splits, dim], split [rows, splits]. The whole row's largest score, then its maximum and sum, are [rows]. */
struct Space {
    double *score, *rescale, *part, *most, *max, *sum;
    struct split *split;
    int64_t first, rows, tokens, splits;
};

__device__ int64_t thread_index() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void score_tokens(plan p, Space s)
{
    const int64_t i = thread_index(), at = i / s.tokens, t = i % s.tokens, row = s.first + at;
    if (at < s.rows && t < row_length(&p, row))
        s.score[i] = score_of(&p, row, t);
}

/* A warp takes 16 tokens of a row: the query is the first row of A, the others are zeros. */
__global__ void score_tokens_wmma(plan p, Space s)
{
    __shared__ __align__(32) uint16_t a[T * T], b[T * T];
    __shared__ __align__(32) float c[T * T];
    const int64_t blocks = (s.tokens + T - 1) / T, at = blockIdx.x / blocks, row = s.first + at;
    const int64_t start = blockIdx.x % blocks * T, length = row_length(&p, row);
    Sum sum;
    if (start >= length)
        return;
    wmma::fill_fragment(sum, 0.0f);
    for (int64_t k = 0; k < p.dim; k += T) {
        __syncwarp();
        for (int i = threadIdx.x; i < T * T; i += 32) {
            const int64_t t = start + i / T, key = t < length ? token_place(&p, row, t) : -1;
            a[i] = i < T ? p.query[row * p.dim + k + i] : 0;
            b[i] = key < 0 ? 0 : p.cache[key + k + i % T];
        }
        __syncwarp();
        RowsA query;
        ColumnsB keys; /* element [k][token] is b[token][k] */
        wmma::load_matrix_sync(query, reinterpret_cast<const __nv_bfloat16 *>(a), T);
        wmma::load_matrix_sync(keys, reinterpret_cast<const __nv_bfloat16 *>(b), T);
        wmma::mma_sync(sum, query, keys, sum);
    }
    wmma::store_matrix_sync(c, sum, T, wmma::mem_row_major);
    __syncwarp();
    if (threadIdx.x < T && start + threadIdx.x < length)
        s.score[at * s.tokens + start + threadIdx.x] = finish_score(&p, c[threadIdx.x]);
}

/* Finds a row's largest score, for settings that use it before any split is weighed. */
__global__ void find_most(plan p, Space s)
{
    const int64_t at = thread_index();
    if (at >= s.rows)
        return;
    const int64_t length = row_length(&p, s.first + at);
    double most = -INFINITY;
    for (int64_t t = 0; t < length; t++)
        most = fmax(most, s.score[at * s.tokens + t]);
    s.most[at] = most;
}

/* A split. */
__global__ void weigh(plan p, Space s)
{
    const int64_t i = thread_index(), at = i / s.splits, split = i % s.splits;
    const int64_t length = at < s.rows ? row_length(&p, s.first + at) : 0;
    double *score = s.score + at * s.tokens, *rescale = s.rescale + at * (s.tokens + s.splits);
    if (at >= s.rows || split >= split_count(&p, length))
        return;
    weigh_split(&p, score, length, split,
                p.choice[SW_MAX] == MAX_ROW ? s.most[at] : split_max(&p, score, length, split),
                rescale + split_rescales(&p, length, split), &s.split[i]);
}

/* A row. */
__global__ void sum_row(plan p, Space s)
{
    const int64_t at = thread_index();
    if (at < s.rows)
        merge_sums(&p, s.split + at * s.splits, split_count(&p, row_length(&p, s.first + at)), &s.max[at], &s.sum[at]);
}

/* A split. */
__global__ void normalize(plan p, Space s)
{
    const int64_t i = thread_index(), at = i / s.splits, split = i % s.splits;
    const int64_t length = at < s.rows ? row_length(&p, s.first + at) : 0;
    const bool by_row = normalized_by_row(&p);
    if (at >= s.rows || split >= split_count(&p, length))
        return;
    normalize_split(&p, s.score + at * s.tokens, length, split, by_row ? s.max[at] : s.split[i].max,
                    by_row ? s.sum[at] : s.split[i].sum,
                    s.rescale + at * (s.tokens + s.splits) + split_rescales(&p, length, split));
}

/* A column of a split. */
__global__ void add_values(plan p, Space s)
{
    const int64_t i = thread_index(), at = i / p.dim / s.splits, split = i / p.dim % s.splits;
    const int64_t row = s.first + at, length = at < s.rows ? row_length(&p, row) : 0;
    if (at >= s.rows || split >= split_count(&p, length))
        return;
    weigh_values(&p, row, s.score + at * s.tokens, length, split,
                 s.rescale + at * (s.tokens + s.splits) + split_rescales(&p, length, split),
                 &s.split[at * s.splits + split], i % p.dim, 1, &s.part[i]);
}

/* A warp takes 16 columns of a split: the probabilities of 16 tokens are the first row of A. */
__global__ void add_values_wmma(plan p, Space s)
{
    __shared__ __align__(32) uint16_t a[T * T], b[T * T];
    __shared__ __align__(32) float c[T * T];
    const int64_t blocks = p.dim / T, index = blockIdx.x / blocks, at = index / s.splits, split = index % s.splits;
    const int64_t first = blockIdx.x % blocks * T, row = s.first + at, length = row_length(&p, row);
    const double *w = s.score + at * s.tokens, *rescale = s.rescale + at * (s.tokens + s.splits);
    Sum sum;
    if (split >= split_count(&p, length))
        return;
    const int64_t count = split_tokens(&p, length, split), tile = tile_of(&p);
    rescale += split_rescales(&p, length, split);
    wmma::fill_fragment(sum, 0.0f);
    for (int64_t start = 0; start < count; start += tile) {
        for (int i = 0; i < sum.num_elements; i++)
            sum.x[i] *= (float)rescale[start / tile];
        for (int64_t step = start; step < start + tile && step < count; step += T) {
            __syncwarp();
            for (int i = threadIdx.x; i < T * T; i += 32) {
                const int64_t j = step + i / T, k = step + i;
                const bool real = j < count && j < start + tile, weighs = i < T && k < count && k < start + tile;
                const int64_t place = real ? token_place(&p, row, split_token(&p, length, split, j)) : -1;
                a[i] = weighs ? (uint16_t)(bits_of((float)w[split_token(&p, length, split, k)]) >> 16) : 0;
                b[i] = place < 0 ? 0 : p.cache[place + p.dim + first + i % T];
            }
            __syncwarp();
            RowsA weights;
            RowsB values;
            wmma::load_matrix_sync(weights, reinterpret_cast<const __nv_bfloat16 *>(a), T);
            wmma::load_matrix_sync(values, reinterpret_cast<const __nv_bfloat16 *>(b), T);
            wmma::mma_sync(sum, weights, values, sum);
        }
    }
    wmma::store_matrix_sync(c, sum, T, wmma::mem_row_major);
    __syncwarp();
    if (threadIdx.x < T) {
        double out = c[threadIdx.x];
        finish_partial(&p, &s.split[index], 1, &out);
        s.part[index * p.dim + first + threadIdx.x] = out;
    }
}

/* An output. */
__global__ void merge_splits(plan p, Space s)
{
    const int64_t i = thread_index(), at = i / p.dim, d = i % p.dim, row = s.first + at;
    if (at < s.rows)
        store(&p, row * p.dim + d, merge(&p, s.split + at * s.splits, s.part + at * s.splits * p.dim + d, p.dim,
                                         row_length(&p, row)));
}

/* At least as many splits as any length up to `tokens` has. */
int64_t most_splits(const plan *p, int64_t tokens)
{
    const int64_t size = split_size(p, tokens), fixed = 8;
    const int64_t count = (tokens + size - 1) / size;
    return count > fixed ? count : fixed;
}

unsigned grid(int64_t threads) { return (unsigned)((threads + BLOCK - 1) / BLOCK); }

void run_rows(const plan &p, const Space &s, cudaStream_t stream)
{
    if (p.choice[SW_DOT] == DOT_WMMA)
        score_tokens_wmma<<<(unsigned)(s.rows * ((s.tokens + T - 1) / T)), 32, 0, stream>>>(p, s);
    else
        score_tokens<<<grid(s.rows * s.tokens), BLOCK, 0, stream>>>(p, s);
    find_most<<<grid(s.rows), BLOCK, 0, stream>>>(p, s);
    weigh<<<grid(s.rows * s.splits), BLOCK, 0, stream>>>(p, s);
    if (normalized_early(&p)) {
        sum_row<<<grid(s.rows), BLOCK, 0, stream>>>(p, s);
        normalize<<<grid(s.rows * s.splits), BLOCK, 0, stream>>>(p, s);
    }
    if (p.choice[SW_VALUES] == VALUES_WMMA)
        add_values_wmma<<<(unsigned)(s.rows * s.splits * (p.dim / T)), 32, 0, stream>>>(p, s);
    else
        add_values<<<grid(s.rows * s.splits * p.dim), BLOCK, 0, stream>>>(p, s);
    merge_splits<<<grid(s.rows * p.dim), BLOCK, 0, stream>>>(p, s);
}

/* One allocation, cut up for `rows` rows. */
size_t lay_out(const plan &p, Space *s, int64_t rows, char *memory)
{
    const size_t tokens = (size_t)s->tokens, splits = (size_t)s->splits, n = (size_t)rows;
    double *at = reinterpret_cast<double *>(memory);
    s->score = at;
    s->rescale = s->score + n * tokens;
    s->part = s->rescale + n * (tokens + splits);
    s->most = s->part + n * splits * (size_t)p.dim;
    s->max = s->most + n;
    s->sum = s->max + n;
    s->split = reinterpret_cast<struct split *>(s->sum + n);
    return sizeof(double) * n * (2 * tokens + splits * (size_t)(p.dim + 1) + 3) + sizeof(struct split) * n * splits;
}

} // namespace

extern "C" int paged_attention(const uint16_t *query, const uint16_t *kv_cache, const int32_t *block_table,
                               const int32_t *seq_lens, uint16_t *out, int64_t batch, int64_t heads,
                               int64_t kv_heads, int64_t head_dim, int64_t page_size, int64_t pages,
                               int64_t pages_per_seq, cudaStream_t stream)
{
    plan p = {query,    kv_cache, block_table, seq_lens, out,           honest_unrounded, batch, heads,
              kv_heads, head_dim, page_size,   pages,    pages_per_seq, {0},              honest_mutating};
    Space s = {};
    void *memory = nullptr;
    memcpy(p.choice, honest_choice, sizeof p.choice);
    s.tokens = pages_per_seq * page_size + 1; /* a mutant takes one too many */
    s.splits = most_splits(&p, s.tokens);
    const size_t each = lay_out(p, &s, 1, nullptr);
    const int64_t fit = (int64_t)(MOST_BYTES / each), rows = batch * heads;
    const int64_t most = fit < 1 ? 1 : fit < rows ? fit : rows;
    const cudaError_t error = cudaMallocAsync(&memory, lay_out(p, &s, most, nullptr), stream);
    if (error != cudaSuccess)
        return (int)error;
    lay_out(p, &s, most, static_cast<char *>(memory));
    for (s.first = 0; s.first < rows; s.first += most) {
        s.rows = rows - s.first < most ? rows - s.first : most;
        run_rows(p, s, stream);
    }
    cudaFreeAsync(memory, stream);
    return (int)cudaGetLastError();
}
