/* Requirements on times before they become a score: a reward that reflects machine load is worse than
 * none. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "scores_internal.h"

const double scores_spread_most = 0.02;

/* Half-width of a time's 95% interval on logarithms. Fewer than 6 samples have no interval. */
static double half_width(int samples, double low, double high)
{
    enum { LEAST_FOR_INTERVAL = 6 };
    return samples >= LEAST_FOR_INTERVAL && low > 0 && high >= low ? log(high / low) / 2 : INFINITY;
}

static double half_width_of(const struct timing *t, bool compared)
{
    const struct interval *const ratio = &t->baseline_ratio;
    if (!compared)
        return half_width(t->samples, t->low_ms, t->high_ms);
    return ratio->present && ratio->low > 0 ? log(ratio->high / ratio->low) / 2 : INFINITY;
}

/* Configurations that differ only in their input class share one measurement. */
static bool is_same_measurement(const struct timing *a, const struct timing *b)
{
    return a->samples == b->samples && a->median_ms == b->median_ms && a->low_ms == b->low_ms &&
           a->high_ms == b->high_ms && a->min_ms == b->min_ms && a->p95_ms == b->p95_ms;
}

static const struct timing *timing_of(const struct result *result, int i, bool unseen, bool compared)
{
    const struct config_result *config = &result->results[i];
    if (config->unseen != unseen || config->outcome != OUTCOME_PASS || !config->timing.present)
        return NULL;
    return compared && !scores_is_compared(config) ? NULL : &config->timing;
}

double scores_spread(const struct result *result, bool unseen, bool compared)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < result->result_count; i++) {
        const struct timing *const t = timing_of(result, i, unseen, compared);
        int weight = 0;
        bool first = true;
        for (int k = 0; t && k < result->result_count; k++) {
            const struct timing *const other = timing_of(result, k, unseen, compared);
            if (!other || !is_same_measurement(t, other))
                continue;
            weight++;
            first = first && k >= i;
        }
        if (!t)
            continue;
        count++;
        if (first)
            sum += pow(weight * half_width_of(t, compared), 2);
    }
    return count > 0 ? sqrt(sum) / count : INFINITY;
}

static struct score_value say(enum score_state state, double value, const char *format, va_list arguments)
{
    struct score_value score = {state, value, ""};
    vsnprintf(score.reason, sizeof score.reason, format, arguments);
    return score;
}

struct score_value scores_none(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const struct score_value score = say(SCORE_NONE, 0, format, arguments);
    va_end(arguments);
    return score;
}

struct score_value scores_open(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const struct score_value score = say(SCORE_INCONCLUSIVE, 0, format, arguments);
    va_end(arguments);
    return score;
}

struct score_value scores_number(double value, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const struct score_value score = say(SCORE_VALUE, value, format, arguments);
    va_end(arguments);
    return score;
}

static bool is_below_ceiling(const struct result *result)
{
    for (int i = 0; i < result->finding_count; i++)
        if (result->finding[i].kind == FINDING_CEILING)
            return true;
    return false;
}

/* Checks everything except precision. One in ten passing configurations may lack a time, such as tensors for
 * which memory was short beside the cache flush. No speedup may be missing. */
bool scores_times_usable(const struct counted *c, bool compared, struct score_value *instead)
{
    enum { ONE_IN = 10 };
    if (c->timed == 0 && c->passing > 0)
        *instead = scores_open("no times were taken");
    else if (is_below_ceiling(c->result))
        *instead = scores_open("a time is shorter than the hardware permits: it is not to be believed");
    else if (c->disturbed > 0)
        *instead = scores_open("%d of %d times were taken while others used the device or its clock was low, "
                               "or two clocks disagree",
                               c->disturbed, c->timed);
    else if (ONE_IN * (c->passing - c->timed) > c->passing)
        *instead = scores_open("%d of the %d that pass have no time", c->passing - c->timed, c->passing);
    else if (compared && c->compared + c->worse < c->passing)
        *instead = scores_open("%d of the %d that pass have no time beside the baseline",
                               c->passing - c->compared - c->worse, c->passing);
    else
        return true;
    return false;
}

bool scores_times_serve(const struct counted *c, bool compared, struct score_value *instead)
{
    if (!scores_times_usable(c, compared, instead))
        return false;
    if (compared && c->compared == 0) /* the baseline passes nowhere */
        return true;
    const double spread = scores_spread(c->result, c->unseen, compared);
    if (isinf(spread))
        *instead = scores_open("a time has too few samples for an interval");
    else if (spread > scores_spread_most)
        *instead =
            scores_open("the times leave their mean open by %.2g%%, above %.2g%%: too few samples, or a "
                        "busy machine",
                        100 * spread, 100 * scores_spread_most);
    else
        return true;
    return false;
}
