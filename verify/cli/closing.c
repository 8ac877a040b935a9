#include "closing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/writers.h"
#include "verify/sandbox/forbid.h"
#include "verify/session/run.h"
#include "verify/util/budget.h"

/* Marks the result as partial, so that a slow candidate does not profit from the configurations it left out.
 * Failures still count. */
static void note_budget(struct result *result)
{
    int left = 0;
    for (int i = 0; i < result->result_count; i++)
        left +=
            result->results[i].outcome == OUTCOME_SKIPPED && result->results[i].reason.cause == CAUSE_BUDGET;
    if (left + result->untimed == 0)
        return;
    result->partial = true;
    snprintf(result->partial_reason, sizeof result->partial_reason, "--budget of %g s was over: %d not %s",
             budget_seconds(), left > 0 ? left : result->untimed, left > 0 ? "run" : "timed");
}

static void note_fail_fast(struct result *result)
{
    int left = 0;
    for (int i = 0; i < result->result_count; i++)
        left += result->results[i].outcome == OUTCOME_SKIPPED &&
                result->results[i].reason.cause == CAUSE_FAIL_FAST;
    if (left == 0 || result->partial)
        return;
    result->partial = true;
    snprintf(result->partial_reason, sizeof result->partial_reason, "--fail-fast: %d not run", left);
}

void closing_note_left(struct result *result)
{
    note_budget(result);
    note_fail_fast(result);
}

void closing_seconds(struct result *result, double seconds)
{
    struct phase_seconds *const p = &result->phase;
    double *const workers[] = {&p->start, &p->map,     &p->fill, &p->run,
                               &p->judge, &p->witness, &p->time, &p->stop};
    const double alone = p->open + p->build + p->draw + p->calibrate + p->baseline + p->explain + p->cover;
    double work = 0;
    result->seconds = seconds;
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++)
        work += *workers[i];
    const double left = fmax(0, seconds - alone), share = work > left ? left / work : 1;
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++)
        *workers[i] *= share;
    p->other = fmax(0, left - share * work);
}

/* Is the time below the hardware's limit? The ceiling is the vendor's, which does not depend on other
 * processes. The margin is for small tensors, which may stay in the L2. The time of an empty kernel was
 * measured, perhaps beside other processes, so it has its own margin. */
static bool is_excess(const struct result *result, const struct timing *timing)
{
    static const double margin = 1.5, launch_margin = 3;
    if (!timing->present || result->peaks.source != PEAKS_VENDOR)
        return false;
    return timing->bound == BOUND_LAUNCH ? !timing->disturbed && timing->fraction > launch_margin
                                         : timing->fraction > margin;
}

/* A clear excess means a wrong clock or skipped work, so it is reported as a finding and not as a good
 * time. */
void closing_find_excess(struct result *result)
{
    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *c = &result->results[i];
        if (!is_excess(result, &c->timing))
            continue;
        struct finding *grown = realloc(result->finding, (size_t)(result->finding_count + 1) * sizeof *grown);
        if (!grown)
            return;
        result->finding = grown;
        grown[result->finding_count].kind = FINDING_CEILING;
        snprintf(grown[result->finding_count++].evidence, sizeof grown->evidence,
                 "%.200s: %.4g ms, but the hardware needs %.4g ms", c->line, c->timing.median_ms,
                 c->timing.attainable_ms);
        return;
    }
}

/* This is not cheating: the candidate uses a library that this task does not permit. */
void closing_find_forbidden(struct result *result)
{
    const struct forbid_uses uses = forbid_uses();
    snprintf(result->forbid, sizeof result->forbid, "%s", forbid_words());
    result->forbid_blind = uses.blind;
    if (*uses.unasked)
        snprintf(result->forbid_launches, sizeof result->forbid_launches, "kernels were not asked for: %s",
                 uses.unasked);
    else if (uses.kernels >= 0)
        snprintf(result->forbid_launches, sizeof result->forbid_launches, "%d kernels launched",
                 uses.kernels);
    struct finding *grown =
        uses.count == 0 ? NULL
                        : realloc(result->finding, (size_t)(result->finding_count + 1) * sizeof *grown);
    if (!grown)
        return;
    result->finding = grown;
    grown[result->finding_count].kind = FINDING_FORBIDDEN;
    memcpy(grown[result->finding_count++].evidence, uses.text, sizeof grown->evidence);
}

void closing_note_baseline(const char *baseline, struct result *result)
{
    double sum[2] = {0, 0};
    int count[2] = {0, 0};
    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *c = &result->results[i];
        if (c->outcome != OUTCOME_PASS || !c->timing.baseline_ratio.present)
            continue;
        sum[c->unseen] -= log(c->timing.baseline_ratio.value);
        count[c->unseen]++;
    }
    if (baseline && count[0] + count[1] == 0)
        result_note(result, "the baseline %.200s was timed nowhere", baseline);
    else if (baseline)
        result_note(
            result,
            "times as fast as the baseline %.200s (geomean): seen %.3g (%d timed), unseen %.3g (%d timed)",
            baseline, count[0] ? exp(sum[0] / count[0]) : 0, count[0], count[1] ? exp(sum[1] / count[1]) : 0,
            count[1]);
}

void closing_trace_unusable(const struct task *task, const struct options *options,
                            const struct result *result)
{
    char error[512] = "out of memory";
    struct result listed = *result;
    const struct result *const first = &listed;
    listed.unloadable = true;
    if (run_list(task, &listed) != 0 ||
        report_write(REPORT_TRACE, options->report[REPORT_TRACE], &first, 1, error, sizeof error) != 0)
        options_error("%s", error);
    free(listed.results);
}
