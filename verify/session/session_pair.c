/* Times two candidates on one configuration in alternation, so that changes of the machine affect both. */
#include <stdlib.h>

#include "pair.h"
#include "timed.h"

/* Distance between the draw numbers of consecutive samplings. */
enum { CONTENTS_APART = 1000 };

struct pairing {
    struct session *const *session; /* two */
    const struct pair_job *job;
    struct timing_job timing[2];
    struct timed *timed; /* two */
    struct pcg *random;
    double spent;
};

static bool goes_on(const struct pairing *p)
{
    return p->session[0]->status.code == SESSION_OK && p->session[1]->status.code == SESSION_OK &&
           p->timed[0].series.ended.outcome == OUTCOME_PASS &&
           p->timed[1].series.ended.outcome == OUTCOME_PASS;
}

/* Keeps a pair only if both calls count. If a candidate turns out to work outside its stream, its earlier
 * times are wrong. */
static void keep_pairs(struct pairing *p, int before)
{
    struct timed *a = &p->timed[0], *b = &p->timed[1];
    if (a->count < before || b->count < before)
        a->count = b->count = 0;
    else if (a->count != before + 1 || b->count != before + 1)
        a->count = b->count = before;
}

/* Makes two consecutive calls; `first` comes first. */
static bool take_pair(struct pairing *p, int first)
{
    const double start = clock_seconds();
    const int before = p->timed[0].count;
    for (int i = 0; i < 2; i++) {
        const int which = i == 0 ? first : !first;
        if (!timed_sample(p->session[which], &p->timed[which]))
            return false;
    }
    keep_pairs(p, before);
    if (p->timed[0].count > 0) /* the first calls load, compile, and touch pages */
        p->spent += clock_seconds() - start;
    return true;
}

static bool has_enough(const struct pairing *p)
{
    const int count = p->timed[0].count;
    return count >= p->job->pairs || count >= PAIRS_MOST || (count > 0 && p->spent >= p->job->budget_seconds);
}

/* A B B A or B A A B: a drift, and being second, affect both alike. */
static void take_pairs(struct pairing *p)
{
    while (goes_on(p) && !has_enough(p)) {
        const int first = (int)pcg_below(p->random, 2);
        if (!take_pair(p, first) || has_enough(p) || !take_pair(p, !first))
            return;
    }
}

/* Chooses one clock for both: if one process's clock is unreliable, or its work outlives the call, the other
 * is timed in the same way. */
static const char *agree_on_clock(struct pairing *p)
{
    const bool has_tail = timed_has_tail(&p->timed[0]) || timed_has_tail(&p->timed[1]);
    const bool disbelieved = p->session[0]->evidence.disbelieved || p->session[1]->evidence.disbelieved;
    for (int i = 0; i < 2; i++) {
        if (has_tail)
            timed_add_tails(&p->timed[i]);
        if (disbelieved)
            timed_add_rests(&p->timed[i]);
    }
    return timed_method(p->session[p->session[1]->evidence.disbelieved || p->session[1]->worker.outside],
                        has_tail);
}

/* Uses pairs only if both series end well: a series that fails at the end has timed something else. */
static void hand_in(struct pairing *p, struct pairs *pairs)
{
    bool passed = true;
    for (int i = 0; i < 2; i++) {
        timed_check(p->session[i], &p->timed[i]);
        pairs->disturbed =
            pairs->disturbed || p->session[i]->evidence.disturbed || p->session[i]->evidence.disbelieved;
        passed = timed_judge(p->session[i], &p->timed[i]) && passed;
    }
    if (!passed || p->timed[0].count == 0)
        return;
    pairs->method = agree_on_clock(p);
    for (; pairs->count < p->timed[0].count; pairs->count++)
        for (int i = 0; i < 2; i++)
            pairs->ms[i][pairs->count] = p->timed[i].event_ms[pairs->count];
}

static bool open_side(struct pairing *p, int i)
{
    struct timed *timed = &p->timed[i];
    struct session *s = p->session[i];
    timed->job = &p->timing[i];
    timed->config = timed_config(p->job->config);
    timed->series.where = "a timed call";
    s->buffers.now = s->buffers.setup;
    s->evidence.disturbed = false;
    if (p->job->fresh)
        worker_restart(&s->worker);
    return series_open(&timed->series, s, &timed->config, TIMED_CONTENT + CONTENTS_APART * p->job->number) ==
           0;
}

static bool open_both(struct pairing *p)
{
    const bool open = open_side(p, 0);
    return open_side(p, 1) && open;
}

static void close_both(struct pairing *p)
{
    for (int i = 0; i < 2; i++)
        series_close(&p->timed[i].series, p->session[i]);
}

/* Processes that wait for later samplings hold memory, too. */
static bool open_both_alone(struct pairing *p)
{
    close_both(p);
    for (int i = 0; i < 2; i++) {
        status_end(&p->session[i]->status);
        process_pool_drop(&p->session[i]->worker);
    }
    return open_both(p);
}

static void pair_inside(struct pairing *p, struct pairs *pairs)
{
    const bool waiting = p->session[0]->worker.pool.count + p->session[1]->worker.pool.count > 0;
    const bool open = open_both(p) || (waiting && open_both_alone(p));
    if (open) {
        evidence_look(&p->session[0]->evidence, p->session[0]->options.device, p->session[0]->options.lease);
        const bool ready = evidence_keeps_pace(&p->session[0]->evidence, p->session[0]->options.device, true);
        take_pairs(p);
        evidence_look(&p->session[0]->evidence, p->session[0]->options.device, p->session[0]->options.lease);
        pairs->disturbed =
            !evidence_keeps_pace(&p->session[0]->evidence, p->session[0]->options.device, false) || !ready;
        hand_in(p, pairs);
    }
    close_both(p);
}

/* Other processes may time meanwhile. */
static bool start_ahead(const struct pairing *p)
{
    enum { DROPS = 2 }; /* large tensors in every sweep would end the processes waiting for the next sweep */
    struct worker *const worker[2] = {&p->session[0]->worker, &p->session[1]->worker};
    if (p->job->fresh && worker[0]->pool.count + worker[1]->pool.count == 0 && worker[0]->pool.drops < DROPS)
        process_pool_start(worker, 2, 1 + p->job->fresh_ahead, p->random);
    return true;
}

enum session_status session_pairs(struct session *const session[2], const struct pair_job *job,
                                  struct pairs *pairs, struct config_result *const result[2])
{
    struct session *const s = session[0];
    const double start = clock_seconds(), waited = lease_waited(s->options.lease);
    *pairs = (struct pairs){.count = 0};
    struct pairing p = {.session = session,
                        .job = job,
                        .timing = {{job->config, 0, result[0], false}, {job->config, 0, result[1], false}},
                        .timed = calloc(2, sizeof *p.timed),
                        .random = pcg_new(job->config->seed + (uint64_t)job->number, "pairs")};
    if (!p.timed || !p.random)
        status_failed(&s->status, "timing", -1);
    else if (start_ahead(&p) && lease_take(s->options.lease)) {
        if (memory_gate_enter(s->options.room)) {
            pair_inside(&p, pairs);
            memory_gate_leave(s->options.room);
        }
        lease_give(s->options.lease);
    }
    for (int i = 0; i < 2; i++) {
        session[i]->buffers.now = session[i]->buffers.setup;
        status_end(&session[i]->status);
    }
    s->evidence.seconds.time += clock_seconds() - start - (lease_waited(s->options.lease) - waited);
    pcg_free(p.random);
    free(p.timed);
    return s->status.code != SESSION_OK ? s->status.code : session[1]->status.code;
}
