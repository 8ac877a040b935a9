#include "scores_record.h"

#include <string.h>

#include "verify/score/score.h"

struct config_result configs[CONFIGS];
struct result record;

static void set_time(struct config_result *config, double ms, double baseline_ms)
{
    config->timing =
        (struct timing){.present = true,
                        .median_ms = ms,
                        .low_ms = ms,
                        .high_ms = ms,
                        .samples = 10,
                        .attainable_ms = ms / 4,
                        .fraction = 0.25,
                        .baseline_ms = baseline_ms,
                        .baseline_ratio = {true, ms / baseline_ms, ms / baseline_ms, ms / baseline_ms}};
    config->baseline_judged = true;
    config->flops = 1e9; /* at 1 TFLOP/s and 1000 GB/s: T_SOL is 1 ms */
    config->bytes = 5e8;
}

void fill_record(void)
{
    memset(configs, 0, sizeof configs);
    set_time(&configs[0], 2, 4);
    set_time(&configs[1], 2, 8);
    set_time(&configs[2], 3, 6);
    set_time(&configs[3], 4, 2);
    configs[4].outcome = OUTCOME_WRONG;
    configs[4].baseline_judged = true;
    for (int i = 2; i < CONFIGS; i++)
        configs[i].unseen = true;
    record = (struct result){.results = configs,
                             .result_count = CONFIGS,
                             .planned = 8,
                             .planned_seen = 2,
                             .baseline = {.path = "baseline.c"},
                             .verdict = VERDICT_SPECIALIZED,
                             .peaks = {.bandwidth_gbps = 1000, .tflops = 1, .source = PEAKS_VENDOR}};
}

void fill_scores(const struct reward_table *table)
{
    score_set(&record);
    scores_fill(&record, table);
}

const struct score_value *unseen_score(enum score_name name)
{
    return &record.scores.unseen[name];
}

void expect_score(const struct score_value *score, double value)
{
    ck_assert_msg(score->state == SCORE_VALUE, "%s: %s", score_state_name(score->state), score->reason);
    ck_assert_double_eq_tol(score->value, value, 1e-12);
}
