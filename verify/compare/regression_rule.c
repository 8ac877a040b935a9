#include "regression_rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/draw/cost.h"
#include "gen/rules/explain.h"
#include "paired_test.h"
#include "signed_rank.h"
#include "verify/util/budget.h"
#include "verify/util/clock.h"
#include "verify/util/interrupt.h"

/* Pairs per process, and processes per answer. */
enum { PAIRS = 8, LEAST_PROCESSES = 2, MOST_PROCESSES = 5 };

struct asking {
    struct rounds *rounds;
    const struct regression_rule_options *options;
    double threshold; /* log ratio above which a configuration is slow: half the mean of the slower ones */
    double floor_ms;  /* times below it are mostly launch time, which is equal for both candidates */
    double end;
    int number;
};

/* The threshold halfway between equal and the mean of the slower ones separates the two best. */
static double half_typical(const struct comparison *c)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < c->count; i++)
        if (c->item[i].shift.change == CHANGE_SLOWER) {
            sum += c->item[i].shift.log_ratio.value;
            count++;
        }
    return count ? sum / count / 2 : 0;
}

static bool is_mostly_call(const struct asking *a, const struct pairs *pairs)
{
    int below = 0;
    for (int i = 0; i < pairs->count; i++)
        below += pairs->ms[0][i] < a->floor_ms;
    return 2 * below > pairs->count;
}

/* Returns 1: slower; 0: not slower; -1: the pairs are undecided, or it does not pass there. */
static int is_slower(void *data, const struct config *config)
{
    struct asking *a = data;
    double log_ratio[PAIRS * MOST_PROCESSES];
    int known = 0;
    for (int process = 0; process < MOST_PROCESSES; process++) {
        struct pairs pairs;
        const struct pair_job job = {.config = config,
                                     .pairs = PAIRS,
                                     .budget_seconds = a->options->budget_seconds,
                                     .number = ++a->number,
                                     .fresh = true,
                                     .fresh_ahead = LEAST_PROCESSES - 1};
        if (is_interrupted() || budget_is_over() || clock_seconds() > a->end)
            return -2;
        if (!paired_timing_pairs(a->rounds, &job, &pairs) || is_mostly_call(a, &pairs))
            return -1;
        for (int i = 0; i < pairs.count; i++)
            known += compare_pairs(&pairs.ms[0][i], &pairs.ms[1][i], 1, &log_ratio[known]);
        const struct interval centre = signed_rank_centre(log_ratio, known, 0.05);
        if (process + 1 < LEAST_PROCESSES || !centre.present)
            continue;
        if (centre.low > a->threshold || centre.high < a->threshold)
            return centre.low > a->threshold;
    }
    return -1;
}

/* Lists the decided configurations as trials; undecided ones give no information. */
static int list_trials(const struct comparison *c, struct explain_trial *trial)
{
    int count = 0;
    for (int i = 0; i < c->count; i++) {
        const struct compared *item = &c->item[i];
        if (item->shift.log_ratio.present && item->shift.change != CHANGE_UNDECIDED)
            trial[count++] = (struct explain_trial){item->config, item->shift.change == CHANGE_SLOWER};
    }
    return count;
}

void cliffs(struct rounds *rounds, const struct task *task, const struct regression_rule_options *options,
            struct comparison *c)
{
    /* Hundreds of pairs are measured for each configuration, so large ones would use up the time. Each time
     * includes two readings of the clock. */
    static const double part = 0.125, launches = 4, least_ms = 0.002;
    const struct draw_caps caps = {.bytes = part * task->caps.bytes, .flops = part * task->caps.flops};
    struct asking asking = {.rounds = rounds,
                            .options = options,
                            .threshold = half_typical(c),
                            .floor_ms = fmax(launches * task->device.launch_ms, least_ms),
                            .end = clock_seconds() + options->seconds,
                            .number = MOST_SWEEPS};
    struct explain_trial *trial = calloc((size_t)c->count + 1, sizeof *trial);
    struct rule rule;
    const int count = trial ? list_trials(c, trial) : 0;
    c->rule_ratio = exp(2 * asking.threshold);
    if (asking.threshold > 0 && count > 0 && options->runs > 0 &&
        explain(&task->space, &caps, &task->seen, NULL, trial, count, options->runs, task->seed, is_slower,
                &asking, &rule) == 0)
        c->rule = rule;
    free(trial);
}
