#include "shrinking.h"

#include "reports/record/published.h"
#include "verify/util/budget.h"
#include "verify/util/clock.h"

void shrinking_from(struct shrinking *s, const struct config_result *failure)
{
    s->from = s->best = *failure;
}

/* --- outcomes --- */

enum outcome shrinking_outcome(const struct shrinking *s, const struct config_result *result)
{
    return config_outcome(result, s->published);
}

bool shrinking_is_same(const struct shrinking *s, const struct config_result *result)
{
    return shrinking_outcome(s, result) == shrinking_outcome(s, &s->from);
}

/* --- runs --- */

/* Returns whether no more runs are allowed: the time is over, too many runs timed out, or the last run could
 * not be made. */
static bool is_over(struct shrinking *s)
{
    s->late = s->late || (s->end > 0 && clock_seconds() > s->end) || budget_is_over();
    return s->status != PROBE_OK || s->late || (s->timeouts > 0 && s->timed_out >= s->timeouts);
}

/* Records a run. Returns whether *result is valid. */
static bool note_run(struct shrinking *s, enum probe_status status, const struct config_result *result)
{
    s->status = status;
    s->timed_out += status == PROBE_OK && result->outcome == OUTCOME_TIMEOUT;
    return status == PROBE_OK;
}

bool shrinking_run(struct shrinking *s, const struct config *config, struct config_result *result)
{
    return !is_over(s) && note_run(s, probe_again(s->probe, config, result), result);
}

bool shrinking_after(struct shrinking *s, const struct config *config, const struct config *after,
                     struct config_result *result)
{
    return !is_over(s) && note_run(s, probe_after(s->probe, config, after, result), result);
}

bool shrinking_mix(struct shrinking *s, const struct mix *mix, struct config_result *result)
{
    return !is_over(s) && note_run(s, probe_mix(s->probe, mix, result), result);
}

struct shrinking_rate shrinking_again(struct shrinking *s, const struct config *config, int times)
{
    struct shrinking_rate rate = {0};
    struct config_result result;
    while (rate.runs < times && shrinking_run(s, config, &result)) {
        rate.same += shrinking_is_same(s, &result);
        rate.failed += outcome_is_rejected(shrinking_outcome(s, &result));
        rate.runs++;
    }
    return rate;
}

struct shrinking_rate shrinking_repeat(struct shrinking *s, const struct config *config, int times)
{
    const bool hangs = s->from.outcome == OUTCOME_TIMEOUT;
    const struct shrinking_rate rate = shrinking_again(s, config, hangs ? 0 : times);
    s->flaky = s->flaky || rate.same < rate.runs || s->from.outcome == OUTCOME_UNSTABLE;
    return rate;
}

/* --- the search --- */

/* Makes one run of a step. Only the first try may use a remembered result. */
static bool run_step(struct shrinking *s, const struct config *config, bool first,
                     struct config_result *result)
{
    const int before = probe_runs(s->probe);
    if (is_over(s) || (s->runs > 0 && s->spent >= s->runs))
        return false;
    s->status = first ? probe_run(s->probe, config, result) : probe_again(s->probe, config, result);
    s->spent += probe_runs(s->probe) - before;
    s->timed_out +=
        probe_runs(s->probe) > before && s->status == PROBE_OK && result->outcome == OUTCOME_TIMEOUT;
    if (s->status == PROBE_OK && s->observe)
        s->observe(s->observe_data, result);
    return s->status == PROBE_OK;
}

static int step_fails(void *data, const struct config *config)
{
    struct shrinking *s = data;
    struct config_result result;
    for (int i = 0; i < (s->flaky ? SHRINKING_TRIES : 1); i++) {
        if (!run_step(s, config, i == 0, &result))
            return -1;
        if (shrinking_is_same(s, &result)) {
            s->best = result;
            return 1;
        }
        if (result.outcome == OUTCOME_SKIPPED) { /* a second try would be skipped, too */
            s->skipped++;
            return 0;
        }
    }
    return 0;
}

int shrinking_search(struct shrinking *s, const struct config *config)
{
    return shrink(s->space, config, s->steps, step_fails, s, &s->shrunk);
}

void shrinking_pattern(struct shrinking *s, struct pattern *pattern)
{
    const enum outcome outcome = s->best.outcome;
    if (outcome != OUTCOME_WRONG && outcome != OUTCOME_UNWRITTEN && outcome != OUTCOME_UNSTABLE)
        return;
    probe_observe(s->probe, pattern);
    for (int i = 0; i < (s->flaky ? SHRINKING_TRIES : 1) && !pattern->present; i++)
        shrinking_again(s, &s->best.config, 1);
    probe_observe(s->probe, NULL);
}
