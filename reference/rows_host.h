/* The enclosure on the host, row by row: a part of enclosure_host.c. */
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) static void
judge_row(const struct work *w, struct error_stats *tally, int64_t row, num *scratch)
{
    const struct ref_context *c = &w->request->context;
    const int64_t width = ref_width(c);
    struct ref_state state;
    ref_prepare(c, row, scratch, &state);
#ifdef REF_DISCRETE
    for (int64_t j = 0; j < width; j++) {
        const struct element_verdict v = ref_verdict(c, row, j, scratch, &state);
        judge_verdict(w, tally, &v, row * width + j);
    }
#else
    for (int64_t first = 0; first < width; first += REF_BLOCK) {
        const int64_t count = width - first < REF_BLOCK ? width - first : REF_BLOCK;
        struct ref_element e[REF_BLOCK];
        for (int64_t j = 0; j < count; j++)
            e[j].kept = false;
        ref_elements(c, row, first, count, scratch, &state, e);
        for (int64_t j = 0; j < count; j++)
            judge_element(w, tally, &e[j], row * width + first + j);
    }
#endif
}

static int judge_all(const struct work *w, struct error_stats *total)
{
    const struct ref_context *c = &w->request->context;
    const int64_t only = w->request->only_row, scratch_count = ref_scratch(c);
    const int64_t first = only ? only - 1 : 0, end = only ? only : ref_rows(c);
    int failed = 0;
#pragma omp parallel
    {
        struct error_stats tally = error_stats_zero();
        num *scratch = malloc((size_t)(scratch_count + 1) * sizeof *scratch);
#pragma omp for schedule(dynamic)
        for (int64_t row = first; row < end; row++)
            if (scratch)
                judge_row(w, &tally, row, scratch);
#pragma omp critical(judge_merge)
        {
            error_stats_merge(total, &tally);
            failed |= !scratch;
        }
        free(scratch);
    }
    return failed ? -1 : 0;
}
