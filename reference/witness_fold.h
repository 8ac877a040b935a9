/* The witness of a fold: a team of threads shares its terms; a part of witness.c. */
#include "fold.h"

static int64_t row_of(const struct ref_context *c, int64_t index)
{
    (void)c;
    return index;
}

/* No other element becomes cheaper. */
static int64_t same_row(const struct ref_context *c, int64_t index, uint64_t pick)
{
    (void)c;
    (void)pick;
    return index;
}

static void fold_all(const struct ref_context *c, int64_t fold, struct ref_fold *out)
{
    const int most = omp_get_max_threads() < TEAM_MOST ? omp_get_max_threads() : TEAM_MOST;
    const struct fold_terms all = fold_terms_of(c, fold);
    struct ref_fold part[TEAM_MOST];
    int parts = 1;
#pragma omp parallel num_threads(ref_cost(c) > expensive_terms ? most : 1)
    {
        const struct fold_terms t = fold_part(all, REF_LANE, REF_LANES);
        struct ref_fold state;
        if (REF_LANE == 0)
            parts = REF_LANES;
        FETCH(c, ref_touch(c, fold, t.first, t.end));
        ref_fold_start(&state);
        for (int64_t i = t.first; i < t.end; i++)
            ref_fold_term(c, fold, i, &state);
        part[REF_LANE] = state;
    }
    for (int p = 1; p < parts; p++)
        ref_fold_merge(&part[0], &part[p]);
    *out = part[0];
}

static int evaluate(const struct ref_context *c, int64_t index, struct prepared *p, struct ref_element *e)
{
    if (p->row != index)
        fold_all(c, index, &p->state);
    p->row = index;
    ref_fold_finish(c, index, &p->state, e);
    return 0;
}
