/* Timed calls, computed again.
 *
 * A candidate that answers rightly where it is checked, and in most of the calls that are timed, does something else in the rest.
 * So a process that has never been timed is given the same contents, and what it makes of them has the same fingerprint, or
 * another one; then a second such process is asked. Three different answers: the candidate's bits vary from run to run, as those of sums
 * in no fixed order may, and fingerprints say nothing of it. Two answers: something depends on more than the inputs. That is no
 * proof of anything (a kernel may tune itself, and come to another order of its sums); it is a reason to make the configuration's
 * calls again and to judge every one of them. Only what is wrong there counts, and only values do: a machine that is busy or
 * short of memory gives none that are wrong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "timed.h"
#include "verify/system/budget.h"
#include "verify/system/interrupt.h"

/* Seconds for all where timing took next to nothing; and the part of what there is that one configuration may take. */
static const double least = 0.2, most = 0.25;
/* Calls that are judged of a suspect, within a ceiling in seconds; and suspects in whom nothing was found wrong, after which the
 * others are believed. */
enum { CALLS = 256, ACQUITTALS = 2 };
static const double ceiling = 3;
enum { AGAIN_CONTENT = 1 << 21 }; /* far from what timed calls got */

struct recomputing {
    struct session *s;
    struct pcg *random;
    struct recomputed *out;
    double share;          /* of the time that timing took */
    double spent, allowed; /* seconds */
    double each;           /* that a configuration may take in any case */
    int acquittals;
    bool over; /* nothing more is compared */
};

/* Starting a process is not on the allowance: on a GPU it may take as long as all of that, and there are one or two. */
static bool has_process(struct recomputing *r, struct series *series)
{
    const bool starts = !r->s->child;
    const double start = clock_seconds();
    const bool ok = session_child(r->s, &series->ended);
    if (starts)
        r->spent -= clock_seconds() - start;
    return ok;
}

/* The call of a fingerprint again, in the process at hand. False: there is no answer. */
static bool answer_again(struct recomputing *r, struct series *series, const struct fingerprint *print,
                         uint64_t key, uint64_t *sum)
{
    struct session *const s = r->s;
    struct call call = {.mode = s->outside ? CALL_WALL : CALL_EVENTS};
    struct child_answer answer;
    char text[RESULT_DETAIL_SIZE];
    if (!series_place(series, s, &print->content, print->placement, &call) || !has_process(r, series))
        return false;
    const enum child_status status =
        child_call(s->child, &call, session_call_limit(s), &answer, text, sizeof text);
    if (status != CHILD_OK) {
        session_child_failed(s, status, text, &series->ended);
        return false;
    }
    const int error = answer.returned == 0 ? slots_fingerprint(s, &call, key, sum) : 0;
    return error ? session_failed(s, "taking a fingerprint", error) : answer.returned == 0;
}

/* Nobody's fault, and nothing can be had, or one that answered before and does not now? */
static bool is_silence_suspect(struct recomputing *r, const struct series *series)
{
    const enum cause cause = series->ended.reason.cause;
    r->over = true;
    return r->s->status == SESSION_OK && cause != CAUSE_MEMORY && cause != CAUSE_BUDGET &&
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
    session_restart(r->s);
    if (!answer_again(r, series, print, key, &twice))
        return is_silence_suspect(r, series);
    r->out->varies = twice != once && twice != print->sum;
    r->over = r->out->varies;
    return !r->out->varies;
}

/* From any of them on: where time is up, the others were as likely to be asked. */
static bool compare(struct recomputing *r, struct series *series, const struct fingerprints *prints)
{
    const double start = clock_seconds();
    const int from = (int)pcg_below(r->random, (uint64_t)prints->count);
    bool suspect = false;
    for (int i = 0; i < prints->count && !suspect && !r->over && r->s->status == SESSION_OK; i++) {
        if (i > 0 && clock_seconds() - start >= fmax(r->share * prints->seconds, r->each))
            break;
        suspect = is_suspect(r, series, &prints->item[(from + i) % prints->count], prints->key);
    }
    return suspect;
}

/* What no state of the machine makes wrong. */
static bool is_proved(enum cause cause)
{
    return cause == CAUSE_VALUE || cause == CAUSE_INDEX || cause == CAUSE_INPUT || cause == CAUSE_SLACK ||
           cause == CAUSE_GAP;
}

/* Calls like those that were timed, each of them judged. */
static void judge_all(struct recomputing *r, const struct recompute_job *job, const struct config *config)
{
    struct session *const s = r->s;
    struct config_result *scratch = calloc(1, sizeof *scratch);
    struct totals totals = {scratch, -1};
    struct series series = {.where = "a timed call made again", .every = true};
    struct series_call call;
    const double end = clock_seconds() + ceiling;
    s->now = s->setup;
    r->out->suspects++;
    if (!scratch)
        session_failed(s, "judging calls", -1);
    else if (series_open(&series, s, config, AGAIN_CONTENT) == 0)
        while (series.calls < CALLS && clock_seconds() < end && !is_interrupted() &&
               series_call(&series, s, &call) && series_judge(&series, s, &totals) &&
               series.ended.outcome == OUTCOME_PASS)
            memset(series.kept, 0, sizeof series.kept);
    if (s->status == SESSION_OK && is_proved(series.ended.reason.cause))
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
    s->now = s->setup;
    if (series_open(&series, s, &config, job->prints->base) == 0)
        suspect = compare(r, &series, job->prints);
    series_close(&series, s);
    r->spent += clock_seconds() - start;
    session_end(s);
    if (suspect && s->status == SESSION_OK)
        judge_all(r, job, &config);
    session_end(s);
    session_give_back(s, job->result->bytes);
}

/* Seconds until a first answer: as much again as a call, for memory and what lies there. Those of which few calls fit into the time for
 * timing are left out where they would leave nothing to the others: of few calls the one that is judged is a good part. */
static bool is_affordable(const struct recomputing *r, const struct fingerprints *prints)
{
    const double first = prints->first + 2 * prints->seconds / fmax(1, prints->calls);
    return prints->count > 0 && r->spent + first < r->allowed && first < most * r->allowed;
}

/* In an order that nobody knows: there may be no time for all. */
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
    session_restart(r->s);
    for (int i = 0; i < count && !r->over && r->s->status == SESSION_OK; i++)
        if (is_affordable(r, job[order[i]].prints) && !is_interrupted() && !budget_is_over())
            recompute(r, &job[order[i]]);
}

enum session_status session_recompute(struct session *s, const struct recompute_job *job, int count,
                                      double share, struct recomputed *out)
{
    const double start = clock_seconds(), before = session_not_timing(s);
    struct recomputing r = {.s = s, .out = out, .share = share};
    int *order = calloc((size_t)count + 1, sizeof *order);
    *out = (struct recomputed){.compared = 0};
    if (count > 0)
        r.random = pcg_new(job[0].prints->key, "recomputing");
    if (order && r.random && room_enter(s->options.room)) {
        recompute_all(&r, job, order, count);
        room_leave(s->options.room);
    }
    pcg_free(r.random);
    free(order);
    s->now = s->setup;
    s->seconds.time += clock_seconds() - start - (session_not_timing(s) - before);
    return s->status;
}
