/* The enclosure of folds on the host, one thread per part of the terms: a part of enclosure_host.c. */
#include "fold.h"

enum { PARTS = 512 }; /* over all folds together, but at least one each */

__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) static void
fold_some(const struct ref_context *c, int64_t fold, struct fold_terms t, struct ref_fold *out)
{
    struct ref_fold state;
    ref_fold_start(&state);
    for (int64_t i = t.first; i < t.end; i++)
        ref_fold_term(c, fold, i, &state);
    *out = state;
}

static void judge_fold(const struct work *w, struct error_stats *tally, int64_t fold, struct ref_fold *part,
                       int64_t parts)
{
    struct ref_element e;
    for (int64_t p = 1; p < parts; p++)
        ref_fold_merge(&part[0], &part[p]);
    e.kept = false;
    ref_fold_finish(&w->request->context, fold, &part[0], &e);
    judge_element(w, tally, &e, fold);
}

static int judge_all(const struct work *w, struct error_stats *total)
{
    const struct ref_context *c = &w->request->context;
    const int64_t only = w->request->only_row, folds = ref_folds(c);
    const int64_t first = only ? only - 1 : 0, end = only ? only : folds;
    const int64_t parts = folds < PARTS ? PARTS / folds : 1;
    struct ref_fold *state = malloc((size_t)((end - first) * parts) * sizeof *state);
    if (!state)
        return -1;
#pragma omp parallel
    {
        struct error_stats tally = error_stats_zero();
#pragma omp for schedule(dynamic)
        for (int64_t i = first * parts; i < end * parts; i++)
            fold_some(c, i / parts, fold_part(fold_terms_of(c, i / parts), i % parts, parts),
                      &state[i - first * parts]);
#pragma omp for schedule(dynamic)
        for (int64_t fold = first; fold < end; fold++)
            judge_fold(w, &tally, fold, &state[(fold - first) * parts], parts);
#pragma omp critical(judge_merge)
        error_stats_merge(total, &tally);
    }
    free(state);
    return 0;
}
