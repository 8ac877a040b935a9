/* The enclosure on the host, element by element: a part of enclosure_host.c. */
enum { RUN = 64 }; /* elements per work item of a thread */

__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) static void
judge_run(const struct work *w, struct error_stats *tally, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; i++) {
        struct ref_element e;
        e.kept = false;
        ref_element(&w->request->context, i, &e);
        judge_element(w, tally, &e, i);
    }
}

static int judge_all(const struct work *w, struct error_stats *total)
{
    const int64_t count = ref_count(&w->request->context);
#pragma omp parallel
    {
        struct error_stats tally = error_stats_zero();
#pragma omp for schedule(dynamic)
        for (int64_t first = 0; first < count; first += RUN)
            judge_run(w, &tally, first, first + RUN < count ? first + RUN : count);
#pragma omp critical(judge_merge)
        error_stats_merge(total, &tally);
    }
    return 0;
}
