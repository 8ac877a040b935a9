/* Judging an imported task's output: |got - want| <= allowed, element by element, in accept form. */
#include "precomputed.h"

#include <string.h>

#define REF_FN static inline __attribute__((unused))
#include "error_stats.h"

/* Judges the candidate's value at `index` by its distance from the expected value. */
static void judge_element(const struct judge_request *r, enum dtype dtype, int64_t index,
                          struct error_stats *t)
{
    uint32_t bits;
    double slack;
    struct judged judged = {.index = index, .mid = r->want[index], .tensor = r->output};
    const double loosened = r->loosened > 0 ? r->loosened : 1;
    judged.got = dtype_load(dtype, r->got, element_at(r, index), &bits);
    /* any value is accepted, except NaN if the expected value is not NaN */
    const bool open = isinf(r->allowed[index]);
    judged.allowed = open || isfinite(judged.mid) ? r->allowed[index] * loosened : 0;
    const double distance = error_stats_distance(judged.got, judged.mid, error_overflow(dtype), &slack);
    const bool right = distance <= judged.allowed && !(isnan(judged.got) && !isnan(judged.mid));
    /* A right number was written, whatever its bits. A right NaN may be the poison. */
    const bool stored = right && (dtype_holds_poison(dtype) || !isnan(judged.got));
    judged.unwritten = !r->held && bits == r->poison && !stored;
    error_stats_expect(r, dtype, index, judged.mid);
    const bool near = distance == 0 || (open && right);
    error_stats_worst(t, judged.unwritten ? INFINITY : near ? 0 : distance / judged.allowed, &judged);
    error_stats_greatest(t, open && right ? 0 : distance, judged.mid);
    t->published_wrong +=
        isinf(judged.mid) ? judged.got != judged.mid : !(distance <= r->atol + r->rtol * fabs(judged.mid));
    if (judged.unwritten || !right) {
        error_stats_wrong(t, r, index, judged.unwritten);
        t->fits = r->arithmetics.count;
    }
}

int precomputed_judge_host(const struct judge_request *request, struct judge_report *report)
{
    const struct judge_request r = judge_complete(request);
    const enum dtype dtype = r.problem->tensors[r.output].dtype;
    struct error_stats total = error_stats_zero();
#pragma omp parallel
    {
        struct error_stats own = error_stats_zero();
#pragma omp for schedule(static)
        for (int64_t i = 0; i < r.given; i++)
            judge_element(&r, dtype, i, &own);
#pragma omp critical(given_merge)
        error_stats_merge(&total, &own);
    }
    memset(report, 0, sizeof *report);
    error_stats_report(&total, report);
    report->elements = r.given;
    for (int i = 0; i < JUDGE_SAMPLES; i++)
        report->sample[i].index = -1;
    return 0;
}

const struct reference reference_given = {
    .judge_host = precomputed_judge_host,
#ifdef HAVE_CUDA
    .judge_cuda = precomputed_judge_cuda,
#endif
};
