/* Limits of a diagnosis of a candidate that hangs: how many runs may time out, and after how many seconds. */
#include <math.h>
#include <stdio.h>

#include "diagnose_internal.h"

/* Shrinking may use this part of limits->hangs, and so may the search for the rule of another failure. */
enum { SHARE = 4, UNEXPECTED = 2 };

/* Small configurations take far less than a twentieth of --timeout. Another failure is explained by large
 * ones, too. The floors are for a busy machine. */
static double limit_of(const struct diagnosing *d, enum outcome outcome)
{
    const double brief = outcome == OUTCOME_TIMEOUT ? fmax(0.05 * d->limit, 0.25) : fmax(0.1 * d->limit, 1);
    return fmin(d->limit, brief);
}

/* The first call of a configuration in Python, which may compile. */
static double first_limit(const struct diagnosing *d, enum outcome outcome)
{
    const struct python *const python = build_python(&d->task->build);
    return python ? fmax(limit_of(d, outcome), python->compile_timeout) : limit_of(d, outcome);
}

const char *hangs_are_dear(const struct diagnosing *d)
{
    enum { FEW = 10 };
    return first_limit(d, OUTCOME_TIMEOUT) * FEW > d->limits->seconds
               ? "too few hangs fit into the time for it; a lower --timeout helps, in Python "
                 "--compile-timeout"
               : NULL;
}

void hangs_bound(struct diagnosing *d, struct run_options *options)
{
    for (int i = 0; i < d->result->result_count; i++)
        d->hangs = d->hangs || d->result->results[i].outcome == OUTCOME_TIMEOUT;
    d->shrinking.timeouts = d->hangs ? d->limits->hangs / SHARE : UNEXPECTED;
    if (d->hangs)
        options->timeout = limit_of(d, d->outcome);
}

struct draw_caps hangs_allow(struct diagnosing *d, enum outcome outcome)
{
    static const struct draw_caps small = {4e6, 1e7};
    struct draw_caps caps = d->task->caps;
    const int share = d->limits->hangs / SHARE;
    if (d->hangs) {
        d->shrinking.timeouts =
            d->shrinking.timed_out + (outcome == OUTCOME_TIMEOUT ? d->limits->hangs - share : share);
        probe_limit(d->shrinking.probe, limit_of(d, outcome));
    }
    if (outcome != OUTCOME_TIMEOUT)
        return caps;
    caps.bytes = caps.bytes > 0 && caps.bytes < small.bytes ? caps.bytes : small.bytes;
    caps.flops = caps.flops > 0 && caps.flops < small.flops ? caps.flops : small.flops;
    if (!d->told)
        result_note(
            d->result,
            "the rule of the hangs comes from configurations of at most %.3g MB, each with %.3g s, until "
            "%d had hung",
            caps.bytes / 1e6, first_limit(d, outcome), d->limits->hangs);
    d->told = true;
    return caps;
}

/* Runs the smallest configuration again, within --timeout. Returns whether it hangs, or cannot be run. */
static bool confirm(struct diagnosing *d)
{
    struct shrinking *const s = &d->shrinking;
    struct config_result again;
    if (config_equal(&s->best.config, &s->from.config))
        return true;
    probe_limit(s->probe, d->limit);
    const bool ran = shrinking_run(s, &s->best.config, &again);
    if (ran)
        s->best = shrinking_is_same(s, &again) ? again : s->from;
    return !ran || shrinking_is_same(s, &again);
}

bool hangs_confirm(struct diagnosing *d)
{
    if (d->outcome != OUTCOME_TIMEOUT)
        return true;
    d->shrinking.timeouts = d->shrinking.timed_out + 1;
    const bool hangs = confirm(d);
    d->out->minimal = d->shrinking.best;
    if (hangs)
        return true;
    d->out->locally_minimal = false;
    snprintf(d->out->rule.reason, sizeof d->out->rule.reason,
             "smaller configurations take more than %.3g s and end within --timeout",
             limit_of(d, d->outcome));
    return false;
}
