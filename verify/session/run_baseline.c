/* Checks the baseline like the candidate, so that both sets of passing configurations are known
 * (doc/scores.md). */
#include <stdlib.h>
#include <stdio.h>

#include "run_internal.h"
#include "verify/util/budget.h"
#include "verify/util/clock.h"
#include "verify/util/interrupt.h"

/* Least time limit in seconds; otherwise the limit is the time of the candidate's checks. Configurations
 * beyond it are not judged. */
static const double least_seconds = 10;

void run_note_baseline(struct config_result *result, const struct config_result *baseline)
{
    const enum outcome outcome = baseline->outcome;
    if (outcome == OUTCOME_SKIPPED || outcome == OUTCOME_TIMEOUT || baseline->reason.cause == CAUSE_KILLED)
        return;
    result->baseline_judged = true;
    result->baseline_outcome = outcome;
}

static double checking_seconds(const struct phase_seconds *phase)
{
    return phase->fill + phase->run + phase->judge + phase->witness;
}

static int check_all(const struct run *run, struct session *session, struct config_result *scratch,
                     enum session_status *status)
{
    const double end = clock_seconds() + least_seconds + checking_seconds(&run->result->phase);
    int left = 0;
    for (int i = 0; i < run->total && *status == SESSION_OK; i++) {
        if (!run->finished[i])
            continue;
        if (is_interrupted() || budget_is_over() || clock_seconds() > end) {
            left++;
            continue;
        }
        *scratch = (struct config_result){0};
        *status = session_check(session, &run_drawn(run->task, i)->config, scratch);
        if (*status == SESSION_OK && !is_interrupted())
            run_note_baseline(&run->result->results[i], scratch);
    }
    return left;
}

void run_baseline(struct run *run)
{
    struct session *const session = run_open_baseline(run);
    struct config_result *const scratch = malloc(sizeof *scratch);
    enum session_status status = SESSION_OK;
    if (!session || !scratch) {
        run_break(run, "out of memory");
    } else {
        run_team(1);
        const int left = check_all(run, session, scratch, &status);
        if (left > 0 && !is_interrupted())
            result_note(
                run->result,
                "the baseline was not judged on %d configurations: it takes longer than the candidate", left);
        if (status != SESSION_OK && !is_interrupted()) {
            run->status = status == SESSION_BAD ? RUN_INPUT : RUN_BROKEN;
            snprintf(run->error, run->error_size, "--baseline: %s", session_error(session));
        }
        session_seconds(session, &run->result->phase);
    }
    session_close(session);
    free(scratch);
}
