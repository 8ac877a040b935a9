/* Recomputation of timed calls.
 *
 * A candidate may answer correctly where it is checked, and in most timed calls, and do something else in the
 * rest. So a process that was never timed gets the same inputs, and its output must have the same
 * fingerprint. If not, a second such process decides.
 *
 * Three different answers: the candidate's bits vary between runs, as sums in no fixed order may, and
 * fingerprints say nothing. Two answers: something depends on more than the inputs. That is no proof, since a
 * kernel may tune itself and change the order of its sums. But it is a reason to repeat the configuration's
 * calls and to judge all of them. Only wrong values count then: a machine that is busy or short of memory
 * produces none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "timed.h"
#include "verify/util/budget.h"
#include "verify/util/interrupt.h"

/* Least time in seconds for everything, if timing took almost none; and the largest part of it for one
 * configuration. */
static const double least = 0.2, most = 0.25;
/* Judged calls per suspect, up to a ceiling in seconds; and number of acquitted suspects after which the
 * others are trusted. */
enum { CALLS = 256, ACQUITTALS = 2 };
static const double ceiling = 3;
enum { AGAIN_CONTENT = 1 << 21 }; /* far from the draws of timed calls */

struct recomputing {
    struct session *s;
    struct pcg *random;
    struct recomputed *out;
    double share;          /* fraction of the time for timing */
    double spent, allowed; /* seconds */
    double each;           /* seconds that any configuration may take */
    int acquittals;
    bool over; /* stop comparing */
};

/* Starts a process. Its time does not count against the limit: on a GPU a start may take as long, and there
 * are only one or two. */
static bool has_process(struct recomputing *r, struct series *series)
{
    const bool starts = !r->s->worker.child;
    const double start = clock_seconds();
    const bool ok = worker_map(&r->s->worker, &series->ended);
    if (starts)
        r->spent -= clock_seconds() - start;
    return ok;
}

/* Repeats the call of a fingerprint in the current process. False: there is no answer. */
static bool answer_again(struct recomputing *r, struct series *series, const struct fingerprint *print,
                         uint64_t key, uint64_t *sum)
{
    struct session *const s = r->s;
    struct call call = {.mode = s->worker.outside ? CALL_WALL : CALL_EVENTS};
    struct child_answer answer;
    char text[RESULT_DETAIL_SIZE];
    if (!series_place(series, s, &print->content, print->placement, &call) || !has_process(r, series))
        return false;
    const enum child_status status =
        child_call(s->worker.child, &call, worker_call_limit(&s->worker), &answer, text, sizeof text);
    if (status != CHILD_OK) {
        worker_failed(&s->worker, status, text, &series->ended);
        return false;
    }
    const int error = answer.returned == 0 ? buffers_fingerprint(&s->buffers, &call, key, sum) : 0;
    return error ? status_failed(&s->status, "taking a fingerprint", error) : answer.returned == 0;
}

/* Is a missing answer suspicious? It is if the candidate answered before and does not now, and not if the
 * environment is the cause. */
static bool is_silence_suspect(struct recomputing *r, const struct series *series)
{
    const enum cause cause = series->ended.reason.cause;
    r->over = true;
    return r->s->status.code == SESSION_OK && cause != CAUSE_MEMORY && cause != CAUSE_BUDGET &&
           !is_interrupted() && !budget_is_over();
}

static bool is_suspect(struct recomputing *r, struct series *series, const struct fingerprint *print,
                       uint64_t key)
{
    uint64_t once, twice;
    if (!answer_again(r, series, print, key, &once))
        return is_silence_suspect(r, series);
    r->out->compared++;
    if (once == print->sum)
        return false;
    worker_restart(&r->s->worker);
    if (!answer_again(r, series, print, key, &twice))
        return is_silence_suspect(r, series);
    r->out->varies = twice != once && twice != print->sum;
    r->over = r->out->varies;
    return !r->out->varies;
}

/* Begins at a random fingerprint, so that each is equally likely to be compared before the time runs out. */
static bool compare(struct recomputing *r, struct series *series, const struct fingerprints *prints)
{
    const double start = clock_seconds();
    const int from = (int)pcg_below(r->random, (uint64_t)prints->count);
    bool suspect = false;
    for (int i = 0; i < prints->count && !suspect && !r->over && r->s->status.code == SESSION_OK; i++) {
        if (i > 0 && clock_seconds() - start >= fmax(r->share * prints->seconds, r->each))
            break;
        suspect = is_suspect(r, series, &prints->item[(from + i) % prints->count], prints->key);
    }
    return suspect;
}

/* Causes that no state of the machine can produce. */
static bool is_proved(enum cause cause)
{
    return cause == CAUSE_VALUE || cause == CAUSE_INDEX || cause == CAUSE_INPUT || cause == CAUSE_SLACK ||
           cause == CAUSE_GAP;
}

/* Makes calls like the timed ones, and judges each of them. */
static void judge_all(struct recomputing *r, const struct recompute_job *job, const struct config *config)
{
    struct session *const s = r->s;
    struct config_result *scratch = calloc(1, sizeof *scratch);
    struct totals totals = {scratch, -1};
    struct series series = {.where = "a timed call made again", .every = true};
    struct series_call call;
    const double end = clock_seconds() + ceiling;
    s->buffers.now = s->buffers.setup;
    r->out->suspects++;
    if (!scratch)
        status_failed(&s->status, "judging calls", -1);
    else if (series_open(&series, s, config, AGAIN_CONTENT) == 0)
        while (series.calls < CALLS && clock_seconds() < end && !is_interrupted() &&
               series_call(&series, s, &call) && series_judge(&series, s, &totals) &&
               series.ended.outcome == OUTCOME_PASS)
            memset(series.kept, 0, sizeof series.kept);
    if (s->status.code == SESSION_OK && is_proved(series.ended.reason.cause))
        series_report_ended(&series, &scratch->worst, job->result);
    else
        r->acquittals++;
    r->over = r->over || r->acquittals >= ACQUITTALS;
    series_close(&series, s);
    free(scratch);
}

static void recompute(struct recomputing *r, const struct recompute_job *job)
{
    struct session *const s = r->s;
    const struct config config = timed_config(job->config);
    const double start = clock_seconds();
    struct series series = {.plain = true};
    bool suspect = false;
    fingerprints_sort(job->prints);
    s->buffers.now = s->buffers.setup;
    if (series_open(&series, s, &config, job->prints->base) == 0)
        suspect = compare(r, &series, job->prints);
    series_close(&series, s);
    r->spent += clock_seconds() - start;
    status_end(&s->status);
    if (suspect && s->status.code == SESSION_OK)
        judge_all(r, job, &config);
    status_end(&s->status);
    memory_give_back(&s->worker, job->result->bytes);
}

/* Estimated seconds until the first answer, which includes as much time as a call for setting up memory.
 * Configurations with few calls per time are skipped if they would leave nothing for others; the judged call
 * is a large part of their calls. */
static bool is_affordable(const struct recomputing *r, const struct fingerprints *prints)
{
    const double first = prints->first + 2 * prints->seconds / fmax(1, prints->calls);
    return prints->count > 0 && r->spent + first < r->allowed && first < most * r->allowed;
}

/* Uses a random order, since there may not be time for all. */
static void recompute_all(struct recomputing *r, const struct recompute_job *job, int *order, int count)
{
    for (int i = 0; i < count; i++) {
        const int at = (int)pcg_below(r->random, (uint64_t)i + 1);
        order[i] = order[at];
        order[at] = i;
        r->allowed += r->share * (job[i].prints->seconds + job[i].prints->first);
    }
    r->allowed = fmax(r->allowed, least);
    r->each = r->allowed / count;
    worker_restart(&r->s->worker);
    for (int i = 0; i < count && !r->over && r->s->status.code == SESSION_OK; i++)
        if (is_affordable(r, job[order[i]].prints) && !is_interrupted() && !budget_is_over())
            recompute(r, &job[order[i]]);
}

enum session_status session_recompute(struct session *s, const struct recompute_job *job, int count,
                                      double share, struct recomputed *out)
{
    const double start = clock_seconds(), before = evidence_not_timing(&s->evidence);
    struct recomputing r = {.s = s, .out = out, .share = share};
    int *order = calloc((size_t)count + 1, sizeof *order);
    *out = (struct recomputed){.compared = 0};
    if (count > 0)
        r.random = pcg_new(job[0].prints->key, "recomputing");
    if (order && r.random && memory_gate_enter(s->options.room)) {
        recompute_all(&r, job, order, count);
        memory_gate_leave(s->options.room);
    }
    pcg_free(r.random);
    free(order);
    s->buffers.now = s->buffers.setup;
    s->evidence.seconds.time += clock_seconds() - start - (evidence_not_timing(&s->evidence) - before);
    return s->status.code;
}
