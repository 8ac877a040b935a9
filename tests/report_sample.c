#include "report_sample.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct config_result results[40];
struct result result;

static void fill_timing(struct timing *timing, double fraction)
{
    *timing = (struct timing){
        .present = true,
        .median_ms = 1.5,
        .low_ms = 1.25,
        .high_ms = 1.75,
        .min_ms = 1,
        .p95_ms = 2,
        .samples = 12,
        .method = "monotonic clock, cold cache",
        .attainable_ms = 1.5 * fraction,
        .bound = BOUND_MEMORY,
        .fraction = fraction,
    };
}

static void fill_wrong(struct config_result *config)
{
    config->outcome = OUTCOME_WRONG;
    strcpy(config->line, "rows=4 cols=4099 input=normal seed=91");
    strcpy(config->why, "neighbour of seen 1: cols+3");
    strcpy(config->detail, "14 of 16396 elements wrong, the first at y[0,4096]");
    config->worst = (struct worst){
        .present = true,
        .tensor = "y",
        .index = 16395,
        .at = {3, 4098},
        .rank = 2,
        .got = NAN,
        .want = 0.25,
        .allowed = 1e-7,
        .error = INFINITY,
        .witnessed = true,
    };
}

static void fill_scores(void)
{
    result.seen = (struct set_score){.configs = 4,
                                     .outcome = {[OUTCOME_PASS] = 4},
                                     .rate = 1,
                                     .timed = true,
                                     .geomean_rate = 5.33,
                                     .geomean_fraction = 0.5,
                                     .fraction_low = 0.5,
                                     .fraction_high = 0.5,
                                     .score = 0.5};
    result.unseen = (struct set_score){
        .configs = 36,
        .rate = 33.0 / 36,
        .timed = true,
        .outcome = {[OUTCOME_PASS] = 33, [OUTCOME_WRONG] = 1, [OUTCOME_CRASH] = 1, [OUTCOME_SKIPPED] = 1},
        .geomean_rate = 5.33,
        .geomean_fraction = 0.25,
        .fraction_low = 0.2,
        .fraction_high = 0.3,
        .score = 0.229};
    result.drop = (struct interval){true, 8.3, -40.5, 21.8};
    result.retention = (struct interval){true, 0.5, 0, INFINITY};
}

void fill_result(void)
{
    result = (struct result){
        .version = "0.2.0",
        .git = "abc1234",
        .problem = "softmax",
        .memory_bound = true,
        .candidate_path = "bad/tile4096.c",
        .language = "c",
        .build_seconds = 0.4,
        .device = "AMD EPYC 9654, 2 cores",
        .seed = 9007199254740991,
        .effort = "standard",
        .admitted = "fp32",
        .fits = "wrong",
        .unexplained = true,
        .verdict = VERDICT_SPECIALIZED,
        .seconds = 12.5,
        .peaks = {.bandwidth_gbps = 25, .tflops = 0.2, .source = PEAKS_MEASURED, .launch_ms = 1e-4},
        .notes = "caps: 256 MB and 4e8 flops for one configuration\npairs covered 412/419, 7 excluded by "
                 "memory or work",
        .sandbox = "own process, guarded memory",
        .results = results,
        .result_count = 40,
        .planned = 40,
        .planned_seen = 4,
    };
    memset(result.candidate_sha256, 'a', 64);
    memset(result.commitment, 'c', 64);
    for (int i = 0; i < 40; i++) {
        results[i] = (struct config_result){.unseen = i >= 4, .fits = "fp32", .flops = 5e6, .bytes = 8e6};
        snprintf(results[i].line, sizeof results[i].line, "rows=%d cols=4096 input=normal seed=7", i);
        strcpy(results[i].why, i < 4 ? "published" : "random");
        fill_timing(&results[i].timing, i < 4 ? 0.5 : 0.25);
    }
    fill_wrong(&results[37]);
    results[38].outcome = OUTCOME_CRASH;
    strcpy(results[38].detail, "killed by signal 11 (segmentation fault)");
    results[39].outcome = OUTCOME_SKIPPED;
    strcpy(results[39].detail, "needs 12 GB, the machine has 4 GB");
    fill_scores();
}
