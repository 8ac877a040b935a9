#include "paired_test.h"

#include <math.h>
#include <stdlib.h>

#include "verify/score/score.h"
#include "signed_rank.h"
#include "verify/score/student.h"

static const double level = 0.05;

double compare_margin(void)
{
    return -log(0.98);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool compare_pairs(const double *old_ms, const double *new_ms, int count, double *log_ratio)
{
    double *const ratio = malloc(((size_t)count + 1) * sizeof *ratio);
    int kept = 0;
    for (int i = 0; ratio && i < count; i++)
        if (old_ms[i] > 0 && new_ms[i] > 0)
            ratio[kept++] = log(new_ms[i] / old_ms[i]);
    if (kept > 0) {
        qsort(ratio, (size_t)kept, sizeof *ratio, ascending);
        *log_ratio = score_median(ratio, kept).value;
    }
    free(ratio);
    return kept > 0;
}

struct shift compare_processes(const double *log_ratio, int count)
{
    struct shift shift = {.slower = 1, .faster = 1, .adjusted = 1};
    shift.log_ratio = signed_rank_centre(log_ratio, count, level);
    if (shift.log_ratio.present) {
        shift.slower = signed_rank_above(log_ratio, count, compare_margin());
        shift.faster = signed_rank_below(log_ratio, count, -compare_margin());
    }
    return shift;
}

/* p-value of a distance, from an interval's half-width. Interval ends come from so few processes that their
 * tails are unknown. Student's t with this many degrees of freedom replaces them; its 97.5% quantile
 * corresponds to the half-width. */
static double tail(double distance, double half_width)
{
    static const double freedom = 10;
    if (distance <= 0)
        return 1;
    return half_width > 0 ? student_tail(freedom, score_student_t(freedom) * distance / half_width) : 0;
}

/* The p-values for an interval. */
static struct shift of_interval(const struct interval *log_ratio)
{
    const struct interval *r = log_ratio;
    return (struct shift){.log_ratio = *r,
                          .slower = tail(r->value - compare_margin(), r->value - r->low),
                          .faster = tail(-compare_margin() - r->value, r->high - r->value),
                          .adjusted = 1};
}

static bool is_usable(const struct interval *ms)
{
    return ms->present && ms->low > 0 && isfinite(ms->high);
}

struct shift compare_medians(const struct interval *old_ms, const struct interval *new_ms)
{
    if (!is_usable(old_ms) || !is_usable(new_ms))
        return (struct shift){.slower = 1, .faster = 1, .adjusted = 1};
    const struct interval ratio = {.present = true,
                                   .value = log(new_ms->value / old_ms->value),
                                   .low = log(new_ms->low / old_ms->high),
                                   .high = log(new_ms->high / old_ms->low)};
    return of_interval(&ratio);
}

struct interval compare_log(const struct interval *ratio)
{
    if (!ratio->present || !(ratio->value > 0) || !(ratio->low >= 0))
        return (struct interval){.present = false};
    return (struct interval){true, log(ratio->value), log(ratio->low), log(ratio->high)};
}

struct shift compare_drift(const struct interval *new_log, const struct interval *old_log)
{
    if (!new_log->present || !old_log->present)
        return (struct shift){.slower = 1, .faster = 1, .adjusted = 1};
    const double value = new_log->value - old_log->value;
    const struct interval ratio = {
        .present = true,
        .value = value,
        .low = value - hypot(new_log->value - new_log->low, old_log->high - old_log->value),
        .high = value + hypot(new_log->high - new_log->value, old_log->value - old_log->low)};
    return of_interval(&ratio);
}

/* --- many configurations --- */

struct ranked {
    double p;
    int at;
};

static int by_p(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->p != y->p ? (x->p > y->p) - (x->p < y->p) : x->at - y->at;
}

/* Holm (1979), Scand. J. Statist. 6:65. Of the sorted p_(1) <= .. <= p_(m) the k-th is multiplied by m - k +
 * 1, and none may be below its predecessor. */
int compare_holm(const double *p, int count, double *adjusted)
{
    struct ranked *const ranked = malloc(((size_t)count + 1) * sizeof *ranked);
    double greatest = 0;
    if (!ranked)
        return -1;
    for (int i = 0; i < count; i++)
        ranked[i] = (struct ranked){p[i], i};
    qsort(ranked, (size_t)count, sizeof *ranked, by_p);
    for (int k = 0; k < count; k++) {
        greatest = fmax(greatest, fmin(1, (count - k) * ranked[k].p));
        adjusted[ranked[k].at] = greatest;
    }
    free(ranked);
    return 0;
}

static bool is_inside(const struct interval *log_ratio)
{
    return log_ratio->low >= -compare_margin() && log_ratio->high <= compare_margin();
}

int compare_decide(struct shift *shift, int count, double alpha, int looks)
{
    double *const p = calloc(2 * (size_t)count + 2, sizeof *p);
    double *const adjusted = p ? p + count : NULL;
    int known = 0, status = -1;
    for (int i = 0; p && i < count; i++)
        if (shift[i].log_ratio.present)
            p[known++] = fmin(1, 2 * looks * fmin(shift[i].slower, shift[i].faster));
    if (p && compare_holm(p, known, adjusted) == 0)
        status = 0;
    for (int i = 0, k = 0; status == 0 && i < count; i++) {
        struct shift *s = &shift[i];
        s->change = CHANGE_UNDECIDED;
        if (!s->log_ratio.present)
            continue;
        s->adjusted = adjusted[k++];
        if (s->adjusted <= alpha)
            s->change = s->slower < s->faster ? CHANGE_SLOWER : CHANGE_FASTER;
        else if (is_inside(&s->log_ratio))
            s->change = CHANGE_SAME;
    }
    free(p);
    return status;
}

struct interval compare_mean(const double *log_ratio, int count)
{
    double *const ratio = malloc(((size_t)count + 1) * sizeof *ratio);
    struct interval mean = {.present = false};
    for (int i = 0; ratio && i < count; i++)
        ratio[i] = exp(log_ratio[i]);
    if (ratio)
        mean = score_geomean(ratio, count);
    free(ratio);
    if (mean.present)
        mean = (struct interval){true, log(mean.value), log(mean.low), log(mean.high)};
    return mean;
}
