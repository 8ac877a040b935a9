/* The enclosure of a recurrence on the host: a part of enclosure_host.c. */

/* Applies the steps of one span to columns [first, first + REF_COLUMNS) of the identity. Adds their share of
 * the squared Frobenius norm after every step to `spans`. */
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), flatten)) static void
span_block(const struct ref_context *c, int64_t chain, int64_t from, int64_t to, int64_t first,
           struct ref_rows *rows, double *spans)
{
    struct ref_carry carry;
    struct ref_step s;
    rows_identity(rows, &carry, first, ref_state_rows(c));
    for (int64_t t = from; t < to; t++) {
        ref_step(c, chain, t, 0, REF_COLUMNS, false, rows, &carry, &s);
        for (int j = 0; j < REF_COLUMNS; j++) {
            const double norm = carry.norm[j] + carry.error[j];
            spans[t] += norm * norm;
        }
    }
}

/* Computes spans[chain * steps + t] for chains `first` <= chain < `end`. */
static int measure_spans(const struct ref_context *c, int64_t first, int64_t end, double *spans)
{
    const int64_t steps = ref_steps(c), parts = (steps + SPAN - 1) / SPAN;
    int failed = 0;
#pragma omp parallel
    {
        struct ref_rows *rows = malloc(sizeof *rows);
#pragma omp for schedule(dynamic)
        for (int64_t i = first * parts; i < end * parts; i++) {
            const int64_t from = i % parts * SPAN, to = from + SPAN < steps ? from + SPAN : steps;
            for (int64_t j = 0; rows && j < ref_state_rows(c); j += REF_COLUMNS)
                span_block(c, i / parts, from, to, j, rows, spans + i / parts * steps);
        }
#pragma omp critical(judge_merge)
        failed |= !rows;
        free(rows);
    }
    return failed ? -1 : 0;
}

__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), flatten)) static void
judge_columns(const struct work *w, struct error_stats *tally, int64_t chain, int64_t first,
              const double *spans, struct ref_rows *rows)
{
    const struct ref_context *c = &w->request->context;
    const int64_t left = ref_columns(c) - first, count = left < REF_COLUMNS ? left : REF_COLUMNS;
    struct ref_carry carry;
    struct ref_step s;
    rows_clear(rows, &carry);
    for (int64_t t = 0; t < ref_steps(c); t++) {
        if (t % SPAN == 0)
            carry_restart(&carry);
        carry.span = sqrt(spans[t]);
        ref_step(c, chain, t, first, count, true, rows, &carry, &s);
        for (int64_t j = 0; j < count; j++) {
            struct ref_element e;
            e.kept = false;
            ref_element_of(c, &s, &carry, (int)j, &e);
            judge_element(w, tally, &e, ref_index(c, chain, t, first + j));
        }
    }
}

/* Judges all chains, or only the column of the requested samples. */
static int judge_all(const struct work *w, struct error_stats *total)
{
    const struct ref_context *c = &w->request->context;
    const int64_t only = w->request->only_row - 1, columns = ref_columns(c), steps = ref_steps(c);
    const int64_t across = (columns + REF_COLUMNS - 1) / REF_COLUMNS;
    const int64_t first = only < 0 ? 0 : only / columns * across + only % columns / REF_COLUMNS;
    const int64_t end = only < 0 ? ref_chains(c) * across : first + 1;
    double *spans = calloc((size_t)(ref_chains(c) * steps), sizeof *spans);
    int failed = !spans || measure_spans(c, first / across, (end - 1) / across + 1, spans) != 0;
#pragma omp parallel
    {
        struct error_stats tally = error_stats_zero();
        struct ref_rows *rows = malloc(sizeof *rows);
#pragma omp for schedule(dynamic)
        for (int64_t i = first; i < end; i++)
            if (rows && !failed)
                judge_columns(w, &tally, i / across, i % across * REF_COLUMNS, spans + i / across * steps,
                              rows);
#pragma omp critical(judge_merge)
        {
            error_stats_merge(total, &tally);
            failed |= !rows;
        }
        free(rows);
    }
    free(spans);
    return failed ? -1 : 0;
}
