/* Clusters failures into kinds, and finds a rule for each kind. A kind is an outcome or, for a Python
 * exception, its type and line. A candidate that refuses one size, loops too few times for another and has a
 * race fits no single short rule. Only passing runs count as passes of a kind. A run that failed otherwise is
 * ignored, since its earlier failure may have hidden this one.
 *
 * Refusals beside failures are a kind of their own. A run that was not refused did not meet the condition of
 * refusals, whether it passed or failed. */
#include <stdio.h>
#include <stdlib.h>

#include "diagnose_internal.h"
#include "gen/contract/space.h"
#include "gen/rules/explain.h"
#include "verify/session/python_exception.h"

/* Fewer failures of a kind cannot support a rule. Failures beyond MOST_KINDS kinds are ignored. */
enum { LEAST_OF_A_KIND = 3, MOST_KINDS = 16 };

struct kind {
    uint64_t id;
    const struct config_result *least; /* the failure with the least work */
    int count;
};

struct kinds {
    struct diagnosing *d;
    struct kind item[MOST_KINDS];
    int count;
    uint64_t id;   /* the kind being explained */
    bool refusals; /* refusals beside failures are explained */
};

/* Identifies the kind of a failure. */
static uint64_t id_of(const struct diagnosing *d, const struct config_result *result)
{
    return exception_is(result) ? exception_kind(result) : (uint64_t)diagnosing_outcome(d, result);
}

static void add(struct kinds *kinds, const struct config_result *result)
{
    const uint64_t id = id_of(kinds->d, result);
    int at = 0;
    while (at < kinds->count && kinds->item[at].id != id)
        at++;
    if (at == MOST_KINDS)
        return;
    if (at == kinds->count)
        kinds->item[kinds->count++] = (struct kind){.id = id};
    struct kind *kind = &kinds->item[at];
    kind->count++;
    if (!kind->least || result->flops + result->bytes < kind->least->flops + kind->least->bytes)
        kind->least = result;
}

/* 1: a run of the kind being explained; 0: it lies outside the kind's condition; -1: nothing is known. */
static int side_of(const struct kinds *kinds, const struct config_result *ran)
{
    const enum outcome outcome = diagnosing_outcome(kinds->d, ran);
    const bool fails = diagnosing_fails(kinds->d, ran);
    if (kinds->refusals)
        return outcome == OUTCOME_REFUSED ? 1 : fails || outcome == OUTCOME_PASS ? 0 : -1;
    return fails ? (id_of(kinds->d, ran) == kinds->id ? 1 : -1) : outcome == OUTCOME_PASS ? 0 : -1;
}

static bool was_asked(const struct diagnosing *d, const struct config_result *ran)
{
    for (int i = 0; i < d->asked_count; i++)
        if (config_equal(&d->asked[i], &ran->config))
            return true;
    return false;
}

typedef void (*take)(void *data, const struct config_result *ran);

/* Visits all runs of the sets, and beside them failing runs and runs for a rule. Steps of shrinking that pass
 * are left out, since too little may be left in them to show the fault. */
static void each_ran(const struct diagnosing *d, take take, void *data)
{
    for (int i = 0; i < d->result->result_count; i++)
        take(data, &d->result->results[i]);
    for (const struct config_result *ran = NULL; (ran = probe_next(d->shrinking.probe, ran));)
        if (!diagnosing_is_of_set(d, ran) && (diagnosing_fails(d, ran) || was_asked(d, ran)))
            take(data, ran);
}

static void add_failure(void *data, const struct config_result *ran)
{
    struct kinds *kinds = data;
    if (kinds->refusals ? side_of(kinds, ran) == 1 : diagnosing_fails(kinds->d, ran))
        add(kinds, ran);
}

static int more_first(const void *a, const void *b)
{
    const struct kind *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : (x->id > y->id) - (x->id < y->id);
}

static int step(void *data, const struct config *config)
{
    struct kinds *kinds = data;
    struct config_result result;
    return diagnosing_ask(kinds->d, config, &result) ? side_of(kinds, &result) : -2;
}

struct trials {
    const struct kinds *kinds;
    struct explain_trial *item; /* NULL: only count */
    int count;
};

static void add_trial(void *data, const struct config_result *ran)
{
    struct trials *trials = data;
    const int side = side_of(trials->kinds, ran);
    if (side < 0)
        return;
    if (trials->item)
        trials->item[trials->count] = (struct explain_trial){.config = ran->config, .fails = side > 0};
    trials->count++;
}

static void name(const struct diagnosing *d, const struct kind *kind, struct result_kind *out)
{
    out->outcome = diagnosing_outcome(d, kind->least);
    out->count = kind->count;
    snprintf(out->line, sizeof out->line, "%s", kind->least->line);
    if (exception_is(kind->least))
        exception_words(kind->least, out->words, sizeof out->words);
}

static void explain_kind(struct kinds *kinds, const struct kind *kind, struct result_kind *out)
{
    struct diagnosing *d = kinds->d;
    struct rule rule = {.present = false};
    struct trials trials = {.kinds = kinds};
    kinds->id = kind->id;
    name(d, kind, out);
    each_ran(d, add_trial, &trials);
    trials.item = calloc((size_t)trials.count + 1, sizeof *trials.item);
    trials.count = 0;
    if (trials.item)
        each_ran(d, add_trial, &trials);
    const struct draw_caps caps = hangs_allow(d, out->outcome);
    if (trials.count > 0 &&
        explain(&d->task->space, &caps, &d->task->seen, &d->task->clues, trials.item, trials.count,
                d->limits->explain_runs, d->result->seed, step, kinds, &rule) == 0)
        diagnosing_record(d, &rule, &out->rule);
    free(trials.item);
}

/* Copies the failures with the least work, since later runs may move the table that holds them. */
static bool keep_least(struct kinds *kinds, struct config_result *least)
{
    for (int i = 0; least && i < kinds->count; i++) {
        least[i] = *kinds->item[i].least;
        kinds->item[i].least = &least[i];
    }
    return least != NULL;
}

/* Explains up to RESULT_KINDS kinds, the most frequent first, if there are at least `least_kinds`. */
static void explain_kinds(struct diagnosing *d, bool refusals, int least_kinds)
{
    struct kinds *kinds = calloc(1, sizeof *kinds);
    struct config_result *least = calloc(MOST_KINDS, sizeof *least);
    struct diagnosis *const out = d->out;
    if (kinds && least) {
        kinds->d = d;
        kinds->refusals = refusals;
        each_ran(d, add_failure, kinds);
        qsort(kinds->item, (size_t)kinds->count, sizeof *kinds->item, more_first);
    }
    if (kinds && keep_least(kinds, least) && kinds->count >= least_kinds)
        for (int i = 0; i < kinds->count && out->kinds < RESULT_KINDS; i++)
            if (kinds->item[i].count >= LEAST_OF_A_KIND)
                explain_kind(kinds, &kinds->item[i], &out->kind[out->kinds++]);
    free(least);
    free(kinds);
}

void clusters_explain(struct diagnosing *d)
{
    if (!d->out->rule.present || d->out->rule.kind != RULE_TWO_SIDED)
        explain_kinds(d, false, 2);
    if (d->outcome != OUTCOME_REFUSED)
        explain_kinds(d, true, 1);
}
