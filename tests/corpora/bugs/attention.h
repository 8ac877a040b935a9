/* Ragged attention row by row, for candidates that differ from an honest one in a step. `struct row` and
 * attend() are the baseline's. A candidate chooses the keys, head and memory of a row. */
#define attention honest_attention
#include "../../../problems/attention/baseline.c"
#undef attention

struct call {
    const bf16 *q, *k, *v;
    const int32_t *cu_q, *cu_kv;
    bf16 *out;
    float *lse;
    int64_t batch, heads, kv_heads, head_dim, total_q, total_kv;
    float scale;
    bool causal;
};

/* A row of queries: head h of token i of sequence b. */
struct place {
    int64_t b, i, h;
};

static inline int64_t keys_of(const struct call *c, int64_t b)
{
    return c->cu_kv[b + 1] - c->cu_kv[b];
}

static inline int64_t queries_of(const struct call *c, int64_t b)
{
    return c->cu_q[b + 1] - c->cu_q[b];
}

/* Keys that the place sees. */
static inline int64_t visible(const struct call *c, struct place p)
{
    return keys_of(c, p.b) - (c->causal ? c->cu_q[p.b + 1] - 1 - p.i : 0);
}

/* The honest row: `keys` keys of sequence b, with the keys' head kv. */
static inline struct row row_of(const struct call *c, struct place p, int64_t keys, int64_t kv)
{
    const int64_t start = (c->cu_kv[p.b] * c->kv_heads + kv) * c->head_dim;
    return (struct row){c->q + (p.i * c->heads + p.h) * c->head_dim,
                        c->k + start,
                        c->v + start,
                        keys,
                        c->head_dim,
                        c->kv_heads * c->head_dim,
                        c->scale};
}

static inline int64_t kv_head(const struct call *c, struct place p)
{
    return p.h / (c->heads / c->kv_heads);
}

static inline void attend_at(const struct call *c, struct place p, struct row row, float *work)
{
    const int64_t at = p.i * c->heads + p.h;
    attend(row, work, c->out + at * c->head_dim, c->lse + at);
}

static inline int64_t sequence_of(const struct call *c, int64_t i)
{
    int64_t b = 0;
    while (c->cu_q[b + 1] <= i)
        b++;
    return b;
}

/* `row` is called for all places; work has room for 2 head_dim + total_kv + 1 floats. */
static inline int for_all_rows(const struct call *c,
                               void (*row)(const struct call *c, struct place p, float *work))
{
    int failed = 0;
#pragma omp parallel reduction(| : failed)
    {
        float *work = malloc((size_t)(2 * c->head_dim + c->total_kv + 1) * sizeof *work);
        failed |= !work;
#pragma omp for schedule(dynamic)
        for (int64_t r = 0; r < c->total_q * c->heads; r++) {
            const struct place p = {sequence_of(c, r / c->heads), r / c->heads, r % c->heads};
            if (work)
                row(c, p, work);
        }
        free(work);
    }
    return failed;
}

#define PARAMETERS                                                                                           \
    const bf16 *q, const bf16 *k, const bf16 *v, const int32_t *cu_q, const int32_t *cu_kv, bf16 *out,       \
        float *lse, int64_t batch, int64_t heads, int64_t kv_heads, int64_t head_dim, int64_t total_q,       \
        int64_t total_kv, float scale, bool causal, void *stream
#define ARGUMENTS                                                                                            \
    q, k, v, cu_q, cu_kv, out, lse, batch, heads, kv_heads, head_dim, total_q, total_kv, scale, causal
