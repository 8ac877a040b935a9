#include "closing.h"

#include <math.h>
#include <stdio.h>

#include "verify/system/budget.h"

/* A slow candidate must not win by the configurations that it leaves out. A failure counts all the same. */
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
    double *const workers[] = {&p->start, &p->fill, &p->run, &p->judge, &p->witness, &p->time};
    const double alone = p->open + p->build + p->draw + p->calibrate + p->baseline + p->explain;
    double work = 0;
    result->seconds = seconds;
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++)
        work += *workers[i];
    const double left = fmax(0, seconds - alone), share = work > left ? left / work : 1;
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++)
        *workers[i] *= share;
    p->other = fmax(0, left - share * work);
}
