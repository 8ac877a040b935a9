#include "diagnose_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/rules/explain.h"
#include "verify/util/budget.h"
#include "verify/util/clock.h"
#include "verify/util/interrupt.h"
#include "pairs.h"
#include "input_ddmin.h"

enum outcome diagnosing_outcome(const struct diagnosing *d, const struct config_result *result)
{
    return result->reason.stage == STAGE_TIMED || result->reason.stage == STAGE_TWIN
               ? OUTCOME_PASS
               : shrinking_outcome(&d->shrinking, result);
}

bool diagnosing_fails(const struct diagnosing *d, const struct config_result *result)
{
    const enum outcome outcome = diagnosing_outcome(d, result);
    return outcome_fails(outcome) || (outcome == OUTCOME_REFUSED && d->outcome == OUTCOME_REFUSED);
}

/* --- the failure to explain --- */

/* Chooses the most frequent failing outcome, or `refused` if nothing failed. False: there is neither. */
static bool choose_outcome(struct diagnosing *d)
{
    int count[OUTCOME_COUNT] = {0}, most = 0;
    for (int i = 0; i < d->result->result_count; i++)
        count[diagnosing_outcome(d, &d->result->results[i])]++;
    d->outcome = OUTCOME_PASS;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (outcome_fails(i) && count[i] > most) {
            most = count[i];
            d->outcome = (enum outcome)i;
        }
    if (most == 0 && count[OUTCOME_REFUSED] > 0)
        d->outcome = OUTCOME_REFUSED;
    return d->outcome != OUTCOME_PASS;
}

/* Returns the failure with the least work (flops + bytes): the closest to the simplest one, and the fastest
 * to run. */
static const struct config_result *choose_failure(const struct diagnosing *d)
{
    const struct config_result *best = NULL;
    for (int i = 0; i < d->result->result_count; i++) {
        const struct config_result *c = &d->result->results[i];
        if (diagnosing_outcome(d, c) == d->outcome &&
            (!best || c->flops + c->bytes < best->flops + best->bytes))
            best = c;
    }
    return best;
}

/* --- failures that are not run again --- */

/* Returns why a failure must not be run again, or NULL if it may be. A failure while loading does not depend
 * on the configuration. A failure by resource limits would use as much again. */
static const char *too_dear(const struct diagnosing *d, const struct config_result *failure)
{
    if (failure->reason.stage == STAGE_LOADING)
        return "it fails while it is being loaded, whatever the configuration";
    if (failure->outcome == OUTCOME_EXCEEDED)
        return "every further run would use as much again";
    return failure->outcome == OUTCOME_TIMEOUT ? hangs_are_dear(d) : NULL;
}

static void show_unrun(struct diagnosing *d, const struct config_result *failure, const char *why)
{
    d->out->minimal = *failure;
    d->out->present = true;
    snprintf(d->out->rule.reason, sizeof d->out->rule.reason, "%s", why);
}

/* --- shrinking --- */

static void shrink_failure(struct diagnosing *d, const struct config_result *failure)
{
    struct shrinking *s = &d->shrinking;
    shrinking_from(s, failure);
    d->rate = shrinking_repeat(s, &failure->config, SHRINKING_TRIES);
    if (shrinking_search(s, &failure->config) == 0) {
        d->out->locally_minimal = s->shrunk.minimal;
        d->out->shrink_runs = s->shrunk.runs;
    }
    d->out->minimal = s->best;
    d->out->present = true;
}

/* --- failures in timed calls only --- */

/* Shows the failure with the least work, as it was timed. It is neither shrunk nor explained, since repeating
 * a measurement a hundred times would take minutes. */
static void show_timed_failure(struct diagnosing *d)
{
    const struct config_result *best = NULL;
    int count = 0;
    for (int i = 0; i < d->result->result_count; i++) {
        const struct config_result *c = &d->result->results[i];
        if (c->reason.stage != STAGE_TIMED || !outcome_is_rejected(c->outcome))
            continue;
        if (!best || c->flops + c->bytes < best->flops + best->bytes)
            best = c;
        count++;
    }
    if (!best)
        return;
    d->out->minimal = *best;
    d->out->minimal.config = best->timed_config;
    memcpy(d->out->minimal.line, best->timed_line, sizeof best->timed_line);
    snprintf(d->out->rule.reason, sizeof d->out->rule.reason,
             "%d configuration%s passed the checks and failed in the timed calls only", count,
             count == 1 ? "" : "s");
    d->out->present = true;
}

/* --- failures that need two configurations --- */

/* Returns the pair with the least work; NULL: none. */
static const struct config_result *choose_pair(const struct diagnosing *d)
{
    const struct config_result *best = NULL;
    for (int i = 0; i < d->result->result_count; i++) {
        const struct config_result *c = &d->result->results[i];
        if (c->pair.present && (!best || c->flops + c->bytes < best->flops + best->bytes))
            best = c;
    }
    return best;
}

static void tell_relation(struct diagnosing *d, const struct pairs_relation *relation)
{
    char *const reason = d->out->rule.reason;
    const size_t size = sizeof d->out->rule.reason;
    int length = snprintf(reason, size, "%s only after another configuration in the same process",
                          outcome_name(d->out->minimal.outcome));
    if (relation->text[0])
        length += snprintf(reason + length, size - (size_t)length, ": %s", relation->text);
    if (relation->runs > 0)
        length += snprintf(reason + length, size - (size_t)length, " (%d of %d such pairs fail",
                           relation->fails, relation->runs);
    if (relation->runs > 0 && relation->others > 0)
        length += snprintf(reason + length, size - (size_t)length, ", %d of %d others", relation->other_fails,
                           relation->others);
    if (relation->runs > 0)
        snprintf(reason + length, size - (size_t)length, "; each configuration passes by itself)");
}

/* Returns whether the failure repeats by itself, or cannot be run. If other failures need an earlier
 * configuration, this one may need one too, although none was found. */
static bool repeats(struct diagnosing *d, const struct config_result *failure)
{
    struct config_result again;
    probe_twins(d->shrinking.probe, false);
    return !shrinking_run(&d->shrinking, &failure->config, &again) || outcome_is_rejected(again.outcome);
}

/* Explains a failure that needs two configurations. It searches for no rule, since rules are about single
 * configurations. */
static void diagnose_pair(struct diagnosing *d, const struct config_result *failure)
{
    struct shrinking *const s = &d->shrinking;
    struct pairs_relation relation;
    probe_twins(s->probe, false);
    const bool again = pairs_shrink(s, failure);
    d->out->minimal = s->best;
    d->out->present = true;
    if (s->best.pair.present)
        memcpy(d->out->minimal.line, s->best.pair.line, sizeof d->out->minimal.line);
    d->out->locally_minimal = s->shrunk.minimal;
    d->out->shrink_runs = s->spent;
    pairs_relate(s, &s->best.pair, d->result->results, d->result->result_count, &relation);
    tell_relation(d, &relation);
    if (!again)
        result_note(d->result, "the smallest pair of configurations did not fail again: a race, or what more "
                               "calls before left");
}

/* --- failing calls --- */

/* Each call of a configuration differs from the first in one thing. If only later calls fail, the cause is
 * state that an earlier call left, or the addresses of tensors. */
static void tell_calls(const struct diagnosing *d)
{
    enum { ENOUGH = 3 }; /* fewer failures may be due to their input values */
    int in[STAGE_COUNT] = {0}, failures = 0, length = 0;
    static const struct {
        enum stage stage;
        const char *words;
    } later[] = {{STAGE_FRESH, "with other contents at the same addresses"},
                 {STAGE_MOVED, "with the same contents at other addresses"},
                 {STAGE_NEAR, "with one element changed"},
                 {STAGE_OWN, "with its own allocations between guards"},
                 {STAGE_TWIN, "of another one right after it"}};
    char *const text = d->out->calls;
    for (int i = 0; i < d->result->result_count; i++)
        if (diagnosing_outcome(d, &d->result->results[i]) == d->outcome) {
            in[d->result->results[i].reason.stage]++;
            failures++;
        }
    int of_later = 0;
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        of_later += in[later[i].stage];
    if (failures < ENOUGH || of_later < failures)
        return;
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        if (in[later[i].stage] > 0)
            length += snprintf(text + length, sizeof d->out->calls - (size_t)length, "%s%d %s",
                               length ? ", " : "", in[later[i].stage], later[i].words);
}

/* --- the rule --- */

static void keep_asked(struct diagnosing *d, const struct config *config)
{
    if (d->asked_count == d->asked_room) {
        const int room = 2 * d->asked_room + 64;
        struct config *grown = realloc(d->asked, (size_t)room * sizeof *grown);
        if (!grown)
            return; /* failure_clusters.c then has fewer trials */
        d->asked = grown;
        d->asked_room = room;
    }
    d->asked[d->asked_count++] = *config;
}

/* Runs even a known configuration: explain asks for one only to see whether its failure repeats. */
bool diagnosing_ask(struct diagnosing *d, const struct config *config, struct config_result *result)
{
    keep_asked(d, config);
    return shrinking_run(&d->shrinking, config, result);
}

static int explain_step(void *data, const struct config *config)
{
    struct diagnosing *d = data;
    struct config_result result;
    if (!diagnosing_ask(d, config, &result))
        return -2;
    if (diagnosing_fails(d, &result))
        return 1;
    return diagnosing_outcome(d, &result) == OUTCOME_PASS ? 0 : -1;
}

bool diagnosing_is_of_set(const struct diagnosing *d, const struct config_result *result)
{
    for (int i = 0; i < d->result->result_count; i++)
        if (config_equal(&d->result->results[i].config, &result->config))
            return true;
    return false;
}

static void add_trial(const struct diagnosing *d, const struct config_result *result,
                      struct explain_trial *trial, int *count)
{
    const bool fails = diagnosing_fails(d, result);
    if (fails || diagnosing_outcome(d, result) == OUTCOME_PASS)
        trial[(*count)++] = (struct explain_trial){.config = result->config, .fails = fails};
}

/* Lists all runs of the sets, and the failing runs beside them: the smallest failure lies at the condition's
 * edges. Steps of shrinking that pass are left out, since too little may be left in them to show the fault.
 * Runs that neither passed nor failed are left out, too. NULL: out of memory. */
static struct explain_trial *list_trials(const struct diagnosing *d, int *count)
{
    const struct config_result *ran = NULL;
    int most = d->result->result_count;
    while ((ran = probe_next(d->shrinking.probe, ran)))
        most++;
    struct explain_trial *trial = calloc((size_t)most + 1, sizeof *trial);
    *count = 0;
    for (int i = 0; trial && i < d->result->result_count; i++)
        add_trial(d, &d->result->results[i], trial, count);
    while (trial && (ran = probe_next(d->shrinking.probe, ran)))
        if (diagnosing_fails(d, ran) && !diagnosing_is_of_set(d, ran))
            add_trial(d, ran, trial, count);
    return trial;
}

/* A flaky failure has a one-sided rule at most. The report shows that rule and the rate at which the failure
 * repeats. */
static void tell_flaky(const struct diagnosing *d, struct rule *rule)
{
    const char *const closest = strstr(rule->reason, "; closest: ");
    char near[sizeof rule->reason], line[160];
    if (!d->shrinking.flaky || d->rate.same == d->rate.runs)
        return;
    if (d->rate.failed < d->rate.runs)
        snprintf(line, sizeof line,
                 "the same configuration fails in %d of %d runs: a race, memory that nobody set, or what "
                 "calls before left",
                 d->rate.failed, d->rate.runs);
    else
        snprintf(line, sizeof line,
                 "the same configuration fails each time, %d of %d times this way: a race, or memory that "
                 "nobody set",
                 d->rate.same, d->rate.runs);
    snprintf(near, sizeof near, "%s", closest ? closest : "");
    if (rule->present)
        result_note(d->result, "%s", line);
    else
        snprintf(rule->reason, sizeof rule->reason, "%s%.*s", line, (int)(sizeof rule->reason - sizeof line),
                 near);
}

void diagnosing_record(const struct diagnosing *d, const struct rule *rule, struct rule *out)
{
    *out = *rule;
    if (d->task->device.backend != BACKEND_CUDA)
        out->limit[0] = '\0';
}

static void find_rule(struct diagnosing *d)
{
    struct rule rule = {.present = false};
    int count = 0;
    struct explain_trial *const trial = list_trials(d, &count);
    const struct draw_caps caps = hangs_allow(d, d->outcome);
    if (count > 0 && explain(&d->task->space, &caps, &d->task->seen, &d->task->clues, trial, count,
                             d->limits->explain_runs, d->result->seed, explain_step, d, &rule) == 0) {
        tell_flaky(d, &rule);
        diagnosing_record(d, &rule, &d->out->rule);
    }
    free(trial);
}

/* --- the whole diagnosis --- */

struct diagnose_limits diagnose_limits(enum effort effort)
{
    static const struct diagnose_limits limits[] = {[EFFORT_QUICK] = {60, 80, 48, 60, 300},
                                                    [EFFORT_STANDARD] = {60, 200, 72, 100, 600},
                                                    [EFFORT_DEEP] = {60, 200, 120, 150, 1500},
                                                    [EFFORT_REWARD] = {60, 80, 48, 60, 300}};
    return limits[effort];
}

/* Notes that the diagnosis was cut short. Limits on runs give the same result for the same seed on any
 * machine; a limit on seconds does not. */
static void note_end(const struct diagnosing *d)
{
    if (budget_is_over())
        result_note(d->result, "explaining was stopped: --budget of %g s was over", budget_seconds());
    else if (d->shrinking.late)
        result_note(d->result,
                    "explaining was stopped after %.0f s: on a machine with more time to spare the smallest "
                    "configuration and the rule may be others, and values that decide may be named",
                    d->limits->seconds);
}

/* Explains a failure that repeats by itself. */
static void diagnose_alone(struct diagnosing *d, const struct config_result *failure)
{
    const struct result *const result = d->result;
    probe_twins(d->shrinking.probe, false);
    for (int i = 0; i < result->result_count; i++)
        if (result->results[i].reason.stage != STAGE_TIMED)
            probe_know(d->shrinking.probe, &result->results[i]);
    shrink_failure(d, failure);
    shrinking_pattern(&d->shrinking, &d->out->pattern);
    tell_calls(d);
    if (!hangs_confirm(d))
        return;
    find_rule(d);
    if (d->rate.same == d->rate.runs) /* kinds mean nothing if the outcome of one configuration varies */
        clusters_explain(d);
    if (d->outcome != OUTCOME_TIMEOUT)
        input_ddmin_values(d->task, &d->shrinking, d->limits->content_runs, &d->out->content);
}

void diagnose(const struct task *task, const struct run_options *options,
              const struct diagnose_limits *limits, struct result *result)
{
    const double start = clock_seconds();
    struct diagnosing d = {.task = task,
                           .limits = limits,
                           .limit = options->timeout,
                           .result = result,
                           .out = &result->diagnosis};
    d.shrinking = (struct shrinking){.space = &task->space,
                                     .published = options->published,
                                     .steps = limits->shrink_runs,
                                     .end = start + limits->seconds};
    if (is_interrupted())
        return;
    const bool alone = choose_outcome(&d);
    const struct config_result *const pair = choose_pair(&d);
    if (!alone && !pair) {
        if (!options->published)
            show_timed_failure(&d);
        return;
    }
    const struct config_result *const failure = alone ? choose_failure(&d) : pair;
    const char *const dear = too_dear(&d, failure);
    if (dear) {
        show_unrun(&d, failure, dear);
        return;
    }
    struct run_options bounded = *options;
    hangs_bound(&d, &bounded);
    d.shrinking.probe = probe_open(task, &bounded);
    if (!d.shrinking.probe)
        return;
    if (pair && (!alone || !repeats(&d, failure)))
        diagnose_pair(&d, pair);
    else
        diagnose_alone(&d, failure);
    note_end(&d);
    result->diagnosis.late = d.shrinking.late;
    result->diagnosis.seconds = clock_seconds() - start;
    probe_close(d.shrinking.probe);
    free(d.asked);
}
