#include "rounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/measure/compare.h"
#include "verify/measure/gate.h"
#include "verify/measure/score.h"
#include "verify/system/budget.h"
#include "verify/system/interrupt.h"

/* Pairs of one process, and processes in the first round, twice as many in each that follows: what a process is lucky or
 * unlucky with is a part of what a median over few of them says. */
enum { PROCESS_PAIRS = 12, FIRST_PROCESSES = 2 };

struct rounds {
    struct session *session[2];
};

struct rounds *rounds_open(const struct task *old, const struct task *new, const struct run_options *options)
{
    const struct session_options side[2] = {run_session_options(old, options),
                                            run_session_options(new, options)};
    struct rounds *rounds = calloc(1, sizeof *rounds);
    for (int i = 0; rounds && i < 2; i++)
        rounds->session[i] = session_open(&side[i]);
    if (rounds && rounds->session[0] && rounds->session[1])
        return rounds;
    rounds_close(rounds);
    return NULL;
}

void rounds_close(struct rounds *rounds)
{
    if (!rounds)
        return;
    for (int i = 0; i < 2; i++)
        session_close(rounds->session[i]);
    free(rounds);
}

static enum run_status broken(const struct rounds *rounds, enum session_status status, char *error,
                              size_t size)
{
    const struct session *worse = rounds->session[*session_error(rounds->session[0]) == '\0'];
    snprintf(error, size, "%s", session_error(worse));
    return status == SESSION_BAD ? RUN_BAD : RUN_BROKEN;
}

/* What time or a signal from outside may have done proves nothing. */
static bool is_doubtful(const struct config_result *result)
{
    return result->outcome == OUTCOME_TIMEOUT || result->reason.cause == CAUSE_KILLED;
}

/* One process of each. False: not again. */
static bool sample(struct rounds *rounds, struct compared *item, const struct pair_job *job,
                   struct pairs *pairs, enum session_status *status)
{
    struct config_result result[2] = {{.outcome = OUTCOME_PASS}, {.outcome = OUTCOME_PASS}};
    struct config_result *const both[2] = {&result[0], &result[1]};
    *status = session_pairs(rounds->session, job, pairs, both);
    if (*status != SESSION_OK || is_interrupted())
        return false;
    for (int i = 0; i < 2; i++) {
        if (result[i].outcome == OUTCOME_PASS || is_doubtful(&result[i]))
            continue;
        item->outcome[i] = result[i].outcome;
        if (i == 1)
            memcpy(item->detail, result[i].detail, sizeof item->detail);
    }
    return result[0].outcome == OUTCOME_PASS && result[1].outcome == OUTCOME_PASS;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *value, int count)
{
    double sorted[PAIRS_MOST];
    memcpy(sorted, value, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    return score_median(sorted, count).value;
}

static void note_pairs(struct compared *item, const struct pairs *pairs)
{
    item->pairs = pairs->count;
    item->disturbed = pairs->disturbed;
    item->method = pairs->method;
    item->shift = compare_pairs(pairs->ms[0], pairs->ms[1], pairs->count);
    for (int i = 0; i < 2 && pairs->count > 0; i++)
        item->ms[i] = median(pairs->ms[i], pairs->count);
}

static enum session_status one_round(struct rounds *rounds, const struct rounds_options *options,
                                     struct compared *item, struct pairs *pairs)
{
    const int processes = FIRST_PROCESSES << item->rounds;
    struct pair_job job = {.config = &item->config,
                           .pairs = PROCESS_PAIRS,
                           .least = 4,
                           .budget_seconds = options->budget_seconds / FIRST_PROCESSES};
    enum session_status status = SESSION_OK;
    for (int i = 0; i < processes; i++) {
        job.number = processes + i;
        if (!sample(rounds, item, &job, pairs, &status))
            break;
    }
    item->rounds++;
    note_pairs(item, pairs);
    return status;
}

static bool is_to_be_timed(const struct compared *item)
{
    return item->outcome[0] == OUTCOME_PASS && item->outcome[1] == OUTCOME_PASS && !item->same_time;
}

enum run_status rounds_run(struct rounds *rounds, const struct rounds_options *options, struct comparison *c,
                           char *error, size_t error_size)
{
    struct pairs *const pairs = calloc((size_t)c->count + 1, sizeof *pairs);
    enum session_status status = SESSION_OK;
    bool memory = pairs != NULL;
    for (int round = 0; round < ROUNDS && memory; round++) {
        int left = 0, at = 0;
        for (int i = 0; i < c->count; i++)
            left += is_to_be_timed(&c->item[i]) && c->item[i].shift.change == CHANGE_UNDECIDED;
        for (int i = 0; i < c->count && status == SESSION_OK && !is_interrupted() && !budget_is_over(); i++) {
            if (!is_to_be_timed(&c->item[i]) || c->item[i].shift.change != CHANGE_UNDECIDED)
                continue;
            if (options->progress)
                options->progress(options->progress_data, round + 1, at++, left);
            status = one_round(rounds, options, &c->item[i], &pairs[i]);
        }
        if (status != SESSION_OK || is_interrupted())
            break;
        memory = gate_decide(c, ROUNDS) == 0;
    }
    free(pairs);
    if (is_interrupted())
        return RUN_INTERRUPTED;
    if (!memory)
        snprintf(error, error_size, "out of memory");
    return !memory ? RUN_BROKEN : status != SESSION_OK ? broken(rounds, status, error, error_size) : RUN_DONE;
}
