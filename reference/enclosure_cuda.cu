/* The enclosure of one problem on the GPU, from the same reference.h and judge_element.h as on the host.
 * Compiled once per problem with REF_PROBLEM and REF_HEADER, and with -fmad=false, so that every operation
 * rounds as written. */
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include "../problems/format.h"
#include "judge.h"

/* a problem uses only some of the loaders and lane functions */
#pragma nv_diag_suppress 177
#define REF_FN static __device__ __forceinline__
#define REF_LANE (lane_of_problem())
#define REF_LANES (lanes_of_problem())
#define REF_LANES_LEAST 32
#define REF_TERM_LANE REF_LANE
#define REF_TERM_LANES REF_LANES
#define REF_F32(c, t, i) ((double)((const float *)(c)->tensor[t])[i])
#define REF_U8(c, t, i) (((const uint8_t *)(c)->tensor[t])[i])
#define REF_I64(c, t, i) (((const int64_t *)(c)->tensor[t])[i])
#define REF_BITS32(c, t, i) (((const uint32_t *)(c)->tensor[t])[i])
#define REF_I32(c, t, i) (((const int32_t *)(c)->tensor[t])[i])
#define REF_E4M3(c, t, i) e4m3_value(((const __nv_fp8_storage_t *)(c)->tensor[t])[i])
#define REF_BF16(c, t, i) bf16_value(((const uint16_t *)(c)->tensor[t])[i])
#define REF_F16(c, t, i) ((double)single_from_f16(((const uint16_t *)(c)->tensor[t])[i]))
#define REF_E5M2(c, t, i) ((double)single_from_e5m2(((const uint8_t *)(c)->tensor[t])[i]))
#define REF_E2M1(c, t, i) ((double)single_from_e2m1((uint8_t)dtype_word(4, (c)->tensor[t], i)))
#define REF_F64(c, t, i) (((const double *)(c)->tensor[t])[i])
#define REF_I8(c, t, i) (((const int8_t *)(c)->tensor[t])[i])
#define REF_BOOL(c, t, i) (((const uint8_t *)(c)->tensor[t])[i] != 0)
#define REF_BLOCK 1
#define REF_GROUP 1
#define REF_COLUMNS 4 /* columns of a recurrence per warp */
#define REF_OWN 1

REF_FN double bf16_value(uint16_t bits)
{
    return (double)__uint_as_float((uint32_t)bits << 16);
}

REF_FN double e4m3_value(__nv_fp8_storage_t bits)
{
    return (double)__half2float(__half(__nv_cvt_fp8_to_halfraw(bits, __NV_E4M3)));
}

static __device__ __forceinline__ int64_t lane_of_problem(void);
static __device__ __forceinline__ int64_t lanes_of_problem(void);

#include "num_enclosure.h"
#include "sums.h"

REF_DECLARE_ELEMENT;

enum { THREADS = 256, WARPS = THREADS / 32, BLOCKS_PER_SM = 4 };
static const size_t scratch_limit = (size_t)512 << 20;

#include "lanes_cuda.h"

/* A dot product of one lane. As on the host, a product of two bf16 values is exact in single precision, and
 * the sums of |p| and p^2 use singles, since they only scale errors. */
struct dot {
    double sum;
    float magnitude, square;
};

REF_FN void dot_add(struct dot *d, float a, float b)
{
    const float p = a * b;
    d->sum += (double)p;
    d->magnitude += fabsf(p);
    d->square = fmaf(p, p, d->square);
}

REF_FN void dot_add_pair(struct dot *d, uint32_t a, uint32_t b)
{
    dot_add(d, __uint_as_float(a << 16), __uint_as_float(b << 16));
    dot_add(d, __uint_as_float(a & 0xffff0000u), __uint_as_float(b & 0xffff0000u));
}

/* If n and both offsets are multiples of 8, rows of bf16 are aligned to 16 bytes, and eight values are
 * loaded at a time. */
REF_FN void ref_dots_bf16(const struct ref_context *c, int t, int64_t i, int u, const int64_t *j, int rows,
                          int64_t n, struct acc *sum)
{
    const uint16_t *a = (const uint16_t *)c->tensor[t] + i, *b = (const uint16_t *)c->tensor[u] + *j;
    struct dot d = {0, 0, 0};
    int64_t l = 0;
    (void)rows; /* REF_GROUP is 1 */
    if ((((uintptr_t)a | (uintptr_t)b) & 15) == 0)
        for (; l + 8 <= n; l += 8) {
            const uint4 x = *(const uint4 *)(a + l), y = *(const uint4 *)(b + l);
            dot_add_pair(&d, x.x, y.x);
            dot_add_pair(&d, x.y, y.y);
            dot_add_pair(&d, x.z, y.z);
            dot_add_pair(&d, x.w, y.w);
        }
    for (; l < n; l++)
        dot_add(&d, (float)bf16_value(a[l]), (float)bf16_value(b[l]));
    const double up = 1 + (double)n * 0x1p-22; /* covers the rounding of sums in singles */
    *sum = {d.sum, d.magnitude * up, d.square * up, 0, (double)n};
}

struct block {
    struct acc acc;
    double extra[REF_BLOCK];
};

REF_FN struct block block_zero(void)
{
    struct block b = {acc_zero(), {0}};
    return b;
}

REF_FN struct acc block_acc(const struct block *b, int64_t j)
{
    (void)j;
    return b->acc;
}

REF_FN void block_add_bf16(struct block *b, const struct ref_context *c, const num *w, const double *extra,
                           int t, const int64_t *i, int rows, int64_t count)
{
    const double v = REF_BF16(c, t, *i);
    (void)rows; /* REF_GROUP is 1 */
    (void)count;
    acc_add_scaled(&b->acc, *w, v);
    b->extra[0] += *extra * fabs(v);
}

#include "bitset.h"
#include REF_HEADER

/* Lanes that work on one item: a warp for a column of a recurrence, and for a term of REF_TOGETHER; a block
 * for a row; one lane for an element or another term. */
#if defined REF_ELEMENTS || (defined REF_FOLD && !defined REF_TOGETHER)
REF_FN int64_t lane_of_problem(void)
{
    return 0;
}
REF_FN int64_t lanes_of_problem(void)
{
    return 1;
}
#elif defined REF_RECURRENCE || defined REF_FOLD
REF_FN int64_t lane_of_problem(void)
{
    return threadIdx.x % 32;
}
REF_FN int64_t lanes_of_problem(void)
{
    return 32;
}
#else
REF_FN int64_t lane_of_problem(void)
{
    return threadIdx.x;
}
REF_FN int64_t lanes_of_problem(void)
{
    return blockDim.x;
}
#endif

#include "judge_element.h"
#include "enclosure_store.h"

/* --- error statistics --- */

struct work {
    struct judge_request request;
    enum dtype dtype;
    struct error_stats *tally; /* one per block */
    struct judged *opens;      /* [JUDGE_OPEN] */
    struct judged *sample;     /* [JUDGE_SAMPLES] */
    unsigned long long *open;  /* number of open elements */
    num *scratch;              /* scratch_count per block */
    int64_t scratch_count;
    size_t scratch_bytes; /* over all blocks */
};

#ifdef REF_DISCRETE

REF_FN void judge_verdict(const struct work *w, struct error_stats *tally, const struct element_verdict *v,
                          int64_t index)
{
    struct judged judged;
    element_verdict(tally, &w->request, v, index, &judged);
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        if (w->request.sample[s] == index)
            w->sample[s] = judged;
}

#else

REF_FN void judge_element(const struct work *w, struct error_stats *tally, const struct ref_element *e,
                          int64_t index)
{
    struct judged judged;
#ifdef REF_STORED
    if (w->request.store)
        enclosure_put(&w->request, w->dtype, e, index);
#endif
    if (element_judge(tally, &w->request, w->dtype, e, index, &judged) == ELEMENT_OPEN) {
        const unsigned long long at = atomicAdd(w->open, 1ull);
        if (at < JUDGE_OPEN)
            w->opens[at] = judged;
    }
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        if (w->request.sample[s] == index)
            w->sample[s] = judged;
}

#endif

/* Merges the threads' tallies, 32 at a time through shared memory. It runs once per block, so speed does not
 * matter. */
REF_FN void merge_block(const struct work *w, const struct error_stats *mine)
{
    __shared__ struct error_stats lane[32];
    struct error_stats total = error_stats_zero();
    for (int warp = 0; warp < (int)blockDim.x / 32; warp++) {
        if ((int)threadIdx.x / 32 == warp)
            lane[threadIdx.x % 32] = *mine;
        __syncthreads();
        if (threadIdx.x == 0)
            for (int i = 0; i < 32; i++)
                error_stats_merge(&total, &lane[i]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        w->tally[blockIdx.x] = total;
}

/* Threads per block. A recurrence has few columns, so its blocks are small, to occupy all multiprocessors. */
#ifdef REF_RECURRENCE
enum { BLOCK_THREADS = 64, BLOCK_WARPS = BLOCK_THREADS / 32 };
#else
enum { BLOCK_THREADS = THREADS };
#endif

#if defined REF_CONTRACTION
#include "contraction_cuda.h"
#elif defined REF_RECURRENCE
#include "recurrence_cuda.h"
#include "shape_cuda.h"
#elif defined REF_ELEMENTS
#include "elements_cuda.h"
#include "shape_cuda.h"
#elif defined REF_FOLD
#include "fold_cuda.h"
#include "shape_cuda.h"
#else
#include "rows_cuda.h"
#include "shape_cuda.h"
#endif

static __global__ void __launch_bounds__(THREADS) stored_kernel(const __grid_constant__ struct work w)
{
    struct error_stats tally = error_stats_zero();
#ifdef REF_STORED
    const int64_t all = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < w.request.elements; i += all) {
        struct ref_element e;
        enclosure_get(&w.request, i, &e);
        judge_element(&w, &tally, &e, i);
    }
#endif
    merge_block(&w, &tally);
}

/* --- launching --- */

#include "scratch_cuda.h"

/* Bytes of what the kernel writes. The head is read with a single wait, open elements after it. */
struct written {
    size_t tallies, samples, head, all;
};

static struct written written_layout(int64_t blocks)
{
    const size_t tallies = (size_t)blocks * sizeof(struct error_stats),
                 samples = JUDGE_SAMPLES * sizeof(struct judged),
                 head = tallies + samples + 16; /* 16: the number of open elements */
    return (struct written){tallies, samples, head, head + JUDGE_OPEN * sizeof(struct judged)};
}

static cudaError_t read_back(const char *memory, const struct written *part, int64_t blocks,
                             struct error_stats *total, struct judge_report *report, unsigned long long *open)
{
    char *const head = (char *)malloc(part->head);
    cudaError_t error =
        head ? cudaMemcpy(head, memory, part->head, cudaMemcpyDeviceToHost) : cudaErrorMemoryAllocation;
    if (!error) {
        for (int64_t i = 0; i < blocks; i++)
            error_stats_merge(total, (const struct error_stats *)head + i);
        memcpy(report->sample, head + part->tallies, part->samples);
        memcpy(open, head + part->tallies + part->samples, sizeof *open);
    }
    if (!error && *open > 0)
        error =
            cudaMemcpy(report->opens, memory + part->head, part->all - part->head, cudaMemcpyDeviceToHost);
    free(head);
    return error;
}

static cudaError_t launch(struct work *w, int64_t blocks, struct error_stats *total,
                          struct judge_report *report, unsigned long long *open)
{
    const struct written part = written_layout(blocks);
    char *memory;
    cudaError_t error = cudaMallocAsync((void **)&memory, part.all, 0);
    if (error)
        return error;
    w->tally = (struct error_stats *)memory;
    w->sample = (struct judged *)(memory + part.tallies);
    w->open = (unsigned long long *)(memory + part.tallies + part.samples);
    w->opens = (struct judged *)(memory + part.head);
    cudaMemsetAsync(w->open, 0, sizeof *w->open, 0);
    cudaMemcpyAsync(w->sample, report->sample, part.samples, cudaMemcpyHostToDevice, 0);
    if (w->request.stored)
        stored_kernel<<<(unsigned)blocks, BLOCK_THREADS>>>(*w);
    else
        judge_kernel<<<(unsigned)blocks, BLOCK_THREADS>>>(*w);
    error = cudaGetLastError();
    if (!error)
        error = read_back(memory, &part, blocks, total, report, open);
    scrub(memory, part.all);
    return error;
}

extern "C" int REF_NAME(judge_cuda)(const struct judge_request *request, struct judge_report *report)
{
    struct work w = {};
    struct error_stats total = error_stats_zero();
    int64_t shape[2];
    unsigned long long open = 0;
    memset(report, 0, sizeof *report);
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        report->sample[s].index = -1;
    w.request = judge_complete(request);
    w.dtype = request->unrounded ? DTYPE_F64 : request->problem->tensors[request->output].dtype;
    cudaError_t error = cudaSuccess;
    int64_t blocks;
    if (request->stored) {
        blocks = choose_blocks((request->elements + BLOCK_THREADS - 1) / BLOCK_THREADS, 0);
    } else {
        error = ask_shape(&request->context, shape);
        if (error)
            return error;
        if (request->only_row)
            shape[0] = 1;
        blocks = choose_blocks(shape[0], scratch_of_block(shape));
        error = take_scratch(&w, blocks, shape);
    }
    if (!error)
        error = launch(&w, blocks, &total, report, &open);
    error_stats_report(&total, report);
    report->open = (int64_t)open;
    if (w.scratch)
        scrub(w.scratch, w.scratch_bytes);
    return error;
}
