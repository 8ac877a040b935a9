/* The enclosure of one problem on the host. Compiled once per problem, as REF_PROBLEM, with REF_HEADER
 * its reference.h. */
#include <stdlib.h>
#include <string.h>

#include "judge.h"

#define REF_FN static inline __attribute__((unused))
#define REF_LANE 0
#define REF_LANES 1
#define REF_F32(c, t, i) ((double)((const float *)(c)->tensor[t])[i])
#define REF_I32(c, t, i) (((const int32_t *)(c)->tensor[t])[i])
#define REF_E4M3(c, t, i) ((double)(c)->e4m3[((const uint8_t *)(c)->tensor[t])[i]])
#define REF_BF16(c, t, i) bf16_value(((const uint16_t *)(c)->tensor[t])[i])
#define REF_BLOCK 32 /* elements whose sums run side by side in vector registers */

REF_FN double bf16_value(uint16_t bits)
{
    union {
        uint32_t bits;
        float value;
    } both = {(uint32_t)bits << 16};
    return both.value;
}

#include "num_enclosure.h"

REF_DECLARE_ELEMENT;

REF_FN double ref_all_max(double x) { return x; }
REF_FN double ref_all_sum(double x) { return x; }
REF_FN bool ref_all_any(bool x) { return x; }
REF_FN void ref_all_acc(struct acc *x) { (void)x; }
REF_FN void ref_barrier(void) {}

REF_FN float bf16_single(uint16_t bits)
{
    union {
        uint32_t bits;
        float value;
    } both = {(uint32_t)bits << 16};
    return both.value;
}

/* What the roundings of n singles added up may have taken from a sum of sizes. */
REF_FN double singles_up(double n)
{
    return 1 + n * 0x1p-22;
}

/* sum, sum |p| and sum p^2 of products of bf16. The sum's are exact in double; the others only scale
 * errors, and singles do: a product of two bf16 is exact there too. */
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), unused))
static void dot_bf16(const uint16_t *a, const uint16_t *b, int64_t n, struct acc *out)
{
    double sum = 0;
    float magnitude = 0, square = 0;
#pragma omp simd reduction(+ : sum, magnitude, square)
    for (int64_t i = 0; i < n; i++) {
        const float p = bf16_single(a[i]) * bf16_single(b[i]);
        sum += (double)p;
        magnitude += fabsf(p);
        square += p * p;
    }
    *out = (struct acc){sum, magnitude * singles_up((double)n), square * singles_up((double)n), 0,
                        (double)n};
}

REF_FN struct acc ref_dot_bf16(const struct ref_context *c, int t, int64_t i, int u, int64_t j,
                               int64_t n)
{
    struct acc out;
    dot_bf16((const uint16_t *)c->tensor[t] + i, (const uint16_t *)c->tensor[u] + j, n, &out);
    return out;
}

/* REF_BLOCK sums side by side, each quantity in a vector of its own. */
struct block {
    double sum[REF_BLOCK], magnitude[REF_BLOCK], square[REF_BLOCK], rad[REF_BLOCK], extra[REF_BLOCK];
    double terms;
};

REF_FN struct block block_zero(void)
{
    return (struct block){.terms = 0};
}

REF_FN struct acc block_acc(const struct block *b, int64_t j)
{
    return (struct acc){b->sum[j], b->magnitude[j], b->square[j], b->rad[j], b->terms};
}

/* Whether a product and a sum fuse here makes no difference to any bound. */
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), unused,
               optimize("fp-contract=fast")))
static void block_add(struct block *b, num w, double extra, const uint16_t *value, int64_t count)
{
    const double size = fabs(w.mid), rad = w.rad + size * NUM_U;
#pragma omp simd
    for (int64_t j = 0; j < count; j++) {
        const double v = bf16_value(value[j]), p = w.mid * v, at = fabs(v);
        b->sum[j] += p;
        b->magnitude[j] += size * at;
        b->square[j] += p * p;
        b->rad[j] += rad * at;
        b->extra[j] += extra * at;
    }
    b->terms += 1;
}

REF_FN void block_add_bf16(struct block *b, const struct ref_context *c, num w, double extra, int t,
                           int64_t i, int64_t count)
{
    block_add(b, w, extra, (const uint16_t *)c->tensor[t] + i, count);
}

#include REF_HEADER
#include "tally.h"

/* One thread's account, and the report that all threads share. */
struct work {
    const struct judge_request *request;
    struct judge_report *report;
    enum dtype dtype;
};

static void note_open(const struct work *w, const struct judged *judged)
{
#pragma omp critical(judge_open)
    {
        if (w->report->open < JUDGE_OPEN)
            w->report->opens[w->report->open] = *judged;
        w->report->open++;
    }
}

REF_FN void judge_element(const struct work *w, struct tally *tally, const struct ref_element *e,
                          int64_t index)
{
    struct judged judged;
    if (tally_element(tally, w->request, w->dtype, e, index, &judged) == TALLY_OPEN)
        note_open(w, &judged);
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        if (w->request->sample[s] == index)
            w->report->sample[s] = judged;
}

#ifdef REF_CONTRACTION

enum { TILE_M = 4, TILE_N = 16, CHUNK_M = 64, CHUNK_N = 128 };

/* sum, sum |p| and sum p^2 of a TILE_M x TILE_N tile; a is [TILE_M][k], b is [k][TILE_N]. The products
 * are exact in double; magnitudes and squares only scale the allowed error, and singles do. */
struct tile {
    double sum[TILE_M][TILE_N];
    float magnitude[TILE_M][TILE_N], square[TILE_M][TILE_N];
};

__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
static void contract_tile(const float *a, const float *b, int64_t k, struct tile *tile)
{
    for (int i = 0; i < TILE_M; i++) {
        double sum[TILE_N] = {0};
        float magnitude[TILE_N] = {0}, square[TILE_N] = {0};
        for (int64_t l = 0; l < k; l++) {
            const float x = a[i * k + l];
            const float *y = b + l * TILE_N;
#pragma omp simd
            for (int j = 0; j < TILE_N; j++) {
                const float p = x * y[j];
                sum[j] += (double)x * (double)y[j];
                magnitude[j] += fabsf(p);
                square[j] += p * p;
            }
        }
        memcpy(tile->sum[i], sum, sizeof sum);
        memcpy(tile->magnitude[i], magnitude, sizeof magnitude);
        memcpy(tile->square[i], square, sizeof square);
    }
}

static void judge_tile(const struct work *w, struct tally *tally, const struct tile *tile, int64_t m0,
                       int64_t n0, const int64_t shape[3])
{
    const double up = 1 + (double)shape[2] * 0x1p-22; /* the singles' own roundings */
    for (int i = 0; i < TILE_M && m0 + i < shape[0]; i++)
        for (int j = 0; j < TILE_N && n0 + j < shape[1]; j++) {
            const struct acc sum = {tile->sum[i][j], tile->magnitude[i][j] * up,
                                    tile->square[i][j] * up, 0, (double)shape[2]};
            struct ref_element e;
            ref_finish(&w->request->context, m0 + i, n0 + j, &sum, &e);
            judge_element(w, tally, &e, (m0 + i) * shape[1] + n0 + j);
        }
}

/* Rows [m0, m0 + CHUNK_M) by columns [n0, n0 + CHUNK_N); panels hold both operands unpacked. */
static void judge_chunk(const struct work *w, struct tally *tally, int64_t m0, int64_t n0,
                        const int64_t shape[3], float *a, float *b)
{
    const struct ref_context *c = &w->request->context;
    const int64_t k = shape[2];
    for (int64_t i = 0; i < CHUNK_M; i++)
        for (int64_t l = 0; l < k; l++)
            a[i * k + l] = m0 + i < shape[0] ? (float)ref_a(c, m0 + i, l) : 0;
    for (int64_t n = n0; n < n0 + CHUNK_N && n < shape[1]; n += TILE_N) {
        for (int64_t j = 0; j < TILE_N; j++)
            for (int64_t l = 0; l < k; l++)
                b[l * TILE_N + j] = n + j < shape[1] ? (float)ref_b(c, n + j, l) : 0;
        for (int64_t i = 0; i < CHUNK_M && m0 + i < shape[0]; i += TILE_M) {
            struct tile tile;
            contract_tile(a + i * k, b, k, &tile);
            judge_tile(w, tally, &tile, m0 + i, n, shape);
        }
    }
}

static int judge_all(const struct work *w, struct tally *total)
{
    int64_t shape[3];
    int failed = 0;
    ref_shape(&w->request->context, shape);
    const int64_t across = (shape[1] + CHUNK_N - 1) / CHUNK_N;
    const int64_t chunks = (shape[0] + CHUNK_M - 1) / CHUNK_M * across;
#pragma omp parallel
    {
        struct tally tally = tally_zero();
        float *a = malloc((size_t)(CHUNK_M * shape[2]) * sizeof *a);
        float *b = malloc((size_t)(TILE_N * shape[2]) * sizeof *b);
#pragma omp for schedule(dynamic)
        for (int64_t chunk = 0; chunk < chunks; chunk++)
            if (a && b)
                judge_chunk(w, &tally, chunk / across * CHUNK_M, chunk % across * CHUNK_N, shape, a,
                            b);
#pragma omp critical(judge_merge)
        {
            tally_merge(total, &tally);
            failed |= !a || !b;
        }
        free(a);
        free(b);
    }
    return failed ? -1 : 0;
}

#else /* by rows */

__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
static void judge_row(const struct work *w, struct tally *tally, int64_t row, num *scratch)
{
    const struct ref_context *c = &w->request->context;
    const int64_t width = ref_width(c);
    struct ref_state state;
    ref_prepare(c, row, scratch, &state);
    for (int64_t first = 0; first < width; first += REF_BLOCK) {
        const int64_t count = width - first < REF_BLOCK ? width - first : REF_BLOCK;
        struct ref_element e[REF_BLOCK];
        ref_elements(c, row, first, count, scratch, &state, e);
        for (int64_t j = 0; j < count; j++)
            judge_element(w, tally, &e[j], row * width + first + j);
    }
}

static int judge_all(const struct work *w, struct tally *total)
{
    const struct ref_context *c = &w->request->context;
    const int64_t only = w->request->only_row, scratch_count = ref_scratch(c);
    const int64_t first = only ? only - 1 : 0, end = only ? only : ref_rows(c);
    int failed = 0;
#pragma omp parallel
    {
        struct tally tally = tally_zero();
        num *scratch = malloc((size_t)(scratch_count + 1) * sizeof *scratch);
#pragma omp for schedule(dynamic)
        for (int64_t row = first; row < end; row++)
            if (scratch)
                judge_row(w, &tally, row, scratch);
#pragma omp critical(judge_merge)
        {
            tally_merge(total, &tally);
            failed |= !scratch;
        }
        free(scratch);
    }
    return failed ? -1 : 0;
}

#endif

int REF_NAME(judge_host)(const struct judge_request *request, struct judge_report *report)
{
    const struct work w = {request, report, request->problem->tensors[request->output].dtype};
    struct tally total = tally_zero();
    memset(report, 0, sizeof *report);
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        report->sample[s].index = -1;
    const int status = judge_all(&w, &total);
    tally_report(&total, report);
    return status;
}
