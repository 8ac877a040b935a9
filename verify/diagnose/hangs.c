/* Limits of a diagnosis of a candidate that hangs: how many runs may time out, and after how many seconds. */
#include <math.h>
#include <stdio.h>

#include "diagnose_internal.h"

/* Shrinking may use this part of limits->hangs, and so may the explanation of another failure. */
enum { SHARE = 4, UNEXPECTED = 2 };

/* Small configurations take far less than a twentieth of --timeout. The floor is for a busy machine. */
static double brief_limit(double limit)
{
    static const double part = 0.05, least = 0.25;
    return fmin(limit, fmax(part * limit, least));
}

void hangs_bound(struct diagnosing *d, struct run_options *options)
{
    bool hangs = false;
    for (int i = 0; i < d->result->result_count; i++)
        hangs = hangs || d->result->results[i].outcome == OUTCOME_TIMEOUT;
    d->limit = options->timeout;
    d->shrinking.timeouts = hangs ? d->limits->hangs / SHARE : UNEXPECTED;
    if (hangs)
        options->timeout = brief_limit(d->limit);
}

struct draw_caps hangs_caps(const struct diagnosing *d)
{
    static const struct draw_caps small = {4e6, 1e7};
    struct draw_caps caps = d->task->caps;
    if (d->outcome != OUTCOME_TIMEOUT)
        return caps;
    caps.bytes = caps.bytes > 0 && caps.bytes < small.bytes ? caps.bytes : small.bytes;
    caps.flops = caps.flops > 0 && caps.flops < small.flops ? caps.flops : small.flops;
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
    probe_limit(s->probe, brief_limit(d->limit));
    if (ran)
        s->best = shrinking_is_same(s, &again) ? again : s->from;
    return !ran || shrinking_is_same(s, &again);
}

bool hangs_confirm(struct diagnosing *d)
{
    if (d->outcome != OUTCOME_TIMEOUT)
        return true;
    d->shrinking.timeouts = d->limits->hangs + 1; /* one for the confirmation */
    const bool hangs = confirm(d);
    d->out->minimal = d->shrinking.best;
    if (hangs) {
        result_note(d->result,
                    "the rule of the hangs comes from configurations of at most %.3g MB, each with %.3g s, "
                    "until %d had hung",
                    hangs_caps(d).bytes / 1e6, brief_limit(d->limit), d->limits->hangs);
    } else {
        d->out->locally_minimal = false;
        snprintf(d->out->rule.reason, sizeof d->out->rule.reason,
                 "smaller configurations take more than %.3g s and end within --timeout",
                 brief_limit(d->limit));
    }
    return hangs;
}
