/* paged_attention with switches on the host: a row, a sequence and a head, after another. */
#include "honest.h"

#include "paged_attention.h"

/* The memory of a row: scores of its tokens; factors, one a tile of every split; splits; their partial
 * outputs. */
struct space {
    double *score, *rescale, *part;
    struct split *split;
};

static void weigh_row(const struct plan *p, int64_t row, int64_t length, struct space *s)
{
    const int64_t splits = split_count(p, length);
    double max = -INFINITY, sum;
    for (int64_t t = 0; t < length; t++)
        s->score[t] = score_of(p, row, t);
    for (int64_t i = 0; i < splits; i++)
        max = fmax(max, split_max(p, s->score, length, i));
    for (int64_t i = 0; i < splits; i++) {
        const double start = p->choice[SW_MAX] == MAX_ROW ? max : split_max(p, s->score, length, i);
        weigh_split(p, s->score, length, i, start, s->rescale + split_rescales(p, length, i), &s->split[i]);
    }
    if (!normalized_early(p))
        return;
    merge_sums(p, s->split, splits, &max, &sum);
    for (int64_t i = 0; i < splits; i++)
        normalize_split(p, s->score, length, i, normalized_by_row(p) ? max : s->split[i].max,
                        normalized_by_row(p) ? sum : s->split[i].sum,
                        s->rescale + split_rescales(p, length, i));
}

static void attend(const struct plan *p, int64_t row, struct space *s)
{
    const int64_t length = row_length(p, row), splits = split_count(p, length);
    weigh_row(p, row, length, s);
    for (int64_t first = 0; first < p->dim; first += COLUMNS)
        for (int64_t i = 0; i < splits; i++)
            weigh_values(p, row, s->score, length, i, s->rescale + split_rescales(p, length, i), &s->split[i],
                         first, COLUMNS, s->part + i * p->dim + first);
    for (int64_t d = 0; d < p->dim; d++)
        store(p, row * p->dim + d, merge(p, s->split, s->part + d, p->dim, length));
}

static int space_open(const struct plan *p, struct space *s)
{
    const size_t tokens = (size_t)(p->per_seq * p->page) + 1;
    size_t splits = 1;
    for (int64_t row = 0; row < p->batch * p->heads; row += p->heads) {
        const size_t count = (size_t)split_count(p, row_length(p, row));
        splits = count > splits ? count : splits;
    }
    *s = (struct space){.score = malloc(tokens * sizeof(double)),
                        .rescale = malloc((tokens + splits) * sizeof(double)),
                        .part = malloc(splits * (size_t)p->dim * sizeof(double)),
                        .split = malloc(splits * sizeof(struct split))};
    return s->score && s->rescale && s->part && s->split ? 0 : 1;
}

static void space_close(struct space *s)
{
    free(s->score);
    free(s->rescale);
    free(s->part);
    free(s->split);
}

int paged_attention(const uint16_t *query, const uint16_t *kv_cache, const int32_t *block_table,
                    const int32_t *seq_lens, uint16_t *out, int64_t batch, int64_t heads, int64_t kv_heads,
                    int64_t head_dim, int64_t page_size, int64_t pages, int64_t pages_per_seq, void *stream)
{
    struct plan p = {.query = query,
                     .cache = kv_cache,
                     .table = block_table,
                     .lens = seq_lens,
                     .out = out,
                     .unrounded = honest_unrounded,
                     .batch = batch,
                     .heads = heads,
                     .kv_heads = kv_heads,
                     .dim = head_dim,
                     .page = page_size,
                     .pages = pages,
                     .per_seq = pages_per_seq,
                     .mutant = honest_mutating};
    int failed = 0;
    (void)stream;
    memcpy(p.choice, honest_choice, sizeof p.choice);
#pragma omp parallel reduction(| : failed)
    {
        struct space s;
        failed = space_open(&p, &s);
#pragma omp for schedule(dynamic)
        for (int64_t row = 0; row < batch * heads; row++)
            if (!failed)
                attend(&p, row, &s);
        space_close(&s);
    }
    return failed;
}
