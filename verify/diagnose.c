#include "diagnose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../gen/explain.h"
#include "../gen/shrink.h"
#include "../reports/published.h"
#include "clock.h"
#include "probe.h"

/* A failure is asked for so often before it counts as one that repeats. */
enum { REPEATS = 4 };

struct diagnosing {
    const struct task *task;
    const struct run_options *options;
    const struct diagnose_limits *limits;
    struct result *result;
    struct probe *probe;
    enum outcome outcome; /* of the failure that is shrunk */
    bool flaky;
    int failed_again;     /* of REPEATS runs of the same configuration */
    double end;
    struct diagnosis *out;
};

static enum outcome outcome_of(const struct diagnosing *d, const struct config_result *result)
{
    return d->options->published ? published_outcome(result) : result->outcome;
}

static bool is_failure(const struct diagnosing *d, const struct config_result *result)
{
    const enum outcome outcome = outcome_of(d, result);
    return outcome == OUTCOME_REFUSED ? d->outcome == OUTCOME_REFUSED
                                      : outcome != OUTCOME_PASS && outcome != OUTCOME_SKIPPED;
}

/* --- which failure --- */

/* The commonest outcome that is a failure; refusals only where there is no other. */
static bool choose_outcome(struct diagnosing *d)
{
    int count[OUTCOME_COUNT] = {0}, most = 0;
    for (int i = 0; i < d->result->result_count; i++)
        count[outcome_of(d, &d->result->results[i])]++;
    count[OUTCOME_PASS] = count[OUTCOME_SKIPPED] = 0;
    d->outcome = OUTCOME_PASS;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (i != OUTCOME_REFUSED && count[i] > most) {
            most = count[i];
            d->outcome = (enum outcome)i;
        }
    if (most == 0 && count[OUTCOME_REFUSED] > 0)
        d->outcome = OUTCOME_REFUSED;
    return d->outcome != OUTCOME_PASS;
}

/* The one with least work: closest to the simplest, and quickest to run. */
static const struct config_result *choose_failure(const struct diagnosing *d)
{
    const struct config_result *best = NULL;
    for (int i = 0; i < d->result->result_count; i++) {
        const struct config_result *c = &d->result->results[i];
        if (outcome_of(d, c) == d->outcome && (!best || c->flops + c->bytes < best->flops + best->bytes))
            best = c;
    }
    return best;
}

/* --- shrinking --- */

static bool is_over(const struct diagnosing *d)
{
    return run_interrupted() || clock_seconds() > d->end;
}

static bool run_fails_so(struct diagnosing *d, const struct config *config, bool again,
                         struct config_result *result)
{
    const enum probe_status status = again ? probe_again(d->probe, config, result)
                                           : probe_run(d->probe, config, result);
    if (status != PROBE_OK)
        d->end = 0; /* nothing can be run any more */
    return status == PROBE_OK && outcome_of(d, result) == d->outcome;
}

static int shrink_step(void *data, const struct config *config)
{
    struct diagnosing *d = data;
    struct config_result result;
    bool fails = false;
    if (is_over(d))
        return -1;
    for (int i = 0; i <= REPEATS && !fails && !is_over(d) && (i == 0 || d->flaky); i++)
        fails = run_fails_so(d, config, i > 0, &result);
    if (fails)
        d->out->minimal = result;
    return fails ? 1 : is_over(d) ? -1 : 0;
}

/* One that hangs or dies while loading costs the whole timeout every time: it is taken as it is. */
static void find_flakiness(struct diagnosing *d, const struct config *config)
{
    struct config_result result;
    if (d->outcome == OUTCOME_TIMEOUT)
        return;
    for (int i = 0; i < REPEATS && !is_over(d); i++)
        d->failed_again += run_fails_so(d, config, true, &result);
    d->flaky = d->failed_again < REPEATS || d->outcome == OUTCOME_UNSTABLE;
}

static void shrink_failure(struct diagnosing *d, const struct config_result *failure)
{
    struct config config;
    struct space_error error;
    struct shrunk shrunk = {.minimal = false};
    if (config_parse(&config, d->task->problem, failure->config, "configuration", &error) != 0)
        return;
    d->out->minimal = *failure;
    d->out->present = true;
    find_flakiness(d, &config);
    if (shrink(&d->task->space, &config, d->limits->shrink_runs, shrink_step, d, &shrunk) != 0)
        return;
    d->out->locally_minimal = shrunk.minimal;
    d->out->shrink_runs = shrunk.runs;
}

/* Which elements of the smallest failure are wrong. */
static void find_pattern(struct diagnosing *d)
{
    struct config config;
    struct config_result result;
    struct space_error error;
    if (d->outcome != OUTCOME_WRONG && d->outcome != OUTCOME_UNWRITTEN && d->outcome != OUTCOME_UNSTABLE)
        return;
    if (is_over(d) || config_parse(&config, d->task->problem, d->out->minimal.config, "configuration", &error))
        return;
    probe_observe(d->probe, &d->out->pattern);
    for (int i = 0; i <= REPEATS && !d->out->pattern.present && !is_over(d) && (i == 0 || d->flaky); i++)
        run_fails_so(d, &config, true, &result);
    probe_observe(d->probe, NULL);
}

/* --- the rule --- */

/* Run each time: explain asks for a known configuration only to see whether its failure repeats. */
static int explain_step(void *data, const struct config *config)
{
    struct diagnosing *d = data;
    struct config_result result;
    if (is_over(d) || probe_again(d->probe, config, &result) != PROBE_OK)
        return -2;
    if (is_failure(d, &result))
        return 1;
    return outcome_of(d, &result) == OUTCOME_PASS ? 0 : -1;
}

/* Everything that was run; what was neither judged nor failed tells nothing. */
static int list_trials(const struct diagnosing *d, struct explain_trial *trial)
{
    int count = 0;
    for (int i = 0; i < d->result->result_count; i++) {
        const struct config_result *c = &d->result->results[i];
        struct space_error error;
        const bool fails = is_failure(d, c);
        if ((fails || outcome_of(d, c) == OUTCOME_PASS) &&
            config_parse(&trial[count].config, d->task->problem, c->config, "configuration", &error) == 0)
            trial[count++].fails = fails;
    }
    return count;
}

static void keep_rule(const struct rule *rule, struct result_rule *out)
{
    *out = (struct result_rule){.present = rule->present,
                                .fails_inside = rule->fails_inside,
                                .inside = rule->inside,
                                .passes_outside = rule->passes_outside,
                                .outside = rule->outside,
                                .precision = rule->precision,
                                .recall = rule->recall,
                                .runs = rule->runs};
    memcpy(out->text, rule->text, sizeof out->text);
    memcpy(out->reason, rule->reason, sizeof out->reason);
}

static void find_rule(struct diagnosing *d)
{
    struct explain_trial *trial = calloc((size_t)d->result->result_count + 1, sizeof *trial);
    struct rule rule = {.present = false};
    const int count = trial ? list_trials(d, trial) : 0;
    if (d->flaky)
        snprintf(d->out->rule.reason, sizeof d->out->rule.reason,
                 "the same configuration fails in %d of %d runs: a race, or memory that nobody set",
                 d->failed_again, REPEATS);
    else if (d->outcome == OUTCOME_TIMEOUT)
        snprintf(d->out->rule.reason, sizeof d->out->rule.reason,
                 "every further run would take the whole timeout");
    else if (count > 0 && explain(&d->task->space, &d->task->caps, &d->task->seen, trial, count,
                                  d->limits->explain_runs, d->result->seed, explain_step, d, &rule) == 0)
        keep_rule(&rule, &d->out->rule);
    free(trial);
}

/* --- all --- */

struct diagnose_limits diagnose_limits(enum effort effort)
{
    static const struct diagnose_limits limits[] = {[EFFORT_QUICK] = {40, 80, 10},
                                                    [EFFORT_STANDARD] = {60, 200, 60},
                                                    [EFFORT_DEEP] = {60, 200, 300}};
    return limits[effort];
}

void diagnose(const struct task *task, const struct run_options *options, const struct diagnose_limits *limits,
              struct result *result)
{
    const double start = clock_seconds();
    struct diagnosing d = {.task = task, .options = options, .limits = limits, .result = result,
                           .end = start + limits->seconds, .out = &result->diagnosis};
    if (!choose_outcome(&d) || run_interrupted())
        return;
    d.probe = probe_open(task, options);
    if (!d.probe)
        return;
    for (int i = 0; i < result->result_count; i++)
        probe_know(d.probe, &result->results[i]);
    shrink_failure(&d, choose_failure(&d));
    find_pattern(&d);
    find_rule(&d);
    result->diagnosis.seconds = clock_seconds() - start;
    probe_close(d.probe);
}
