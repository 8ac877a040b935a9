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
        .peaks = {.bandwidth_gbps = 25,
                  .tflops = 0.2,
                  .source = PEAKS_MEASURED,
                  .launch_ms = 1e-4,
                  .calibrated = "2026-11-23T10:00:00Z",
                  .sha256 = "ab01"},
        .notes = "caps: 256 MB and 4e8 flops for one configuration\npairs covered 412/419, 7 excluded by "
                 "memory or work",
        .sandbox = "own process, guarded memory",
        .results = results,
        .result_count = 40,
        .planned = 40,
        .planned_seen = 4,
        .planned_scouts = 2,
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
    results[5].scout = results[38].scout = true; /* one that passes, one that does not */
    strcpy(results[38].detail, "killed by signal 11 (segmentation fault)");
    results[39].outcome = OUTCOME_SKIPPED;
    strcpy(results[39].detail, "needs 12 GB, the machine has 4 GB");
    fill_scores();
}

/* ---- with a value in every field ---- */

static const struct axis axes[] = {{"rows", AXIS_NUMBER},
                                   {"cols", AXIS_NUMBER},
                                   {"input", AXIS_CHOICE, (const char *const[]){"normal", "wide", NULL}},
                                   {NULL}};
static const struct tensor no_tensors[] = {{NULL}};
static const struct argument no_arguments[] = {{NULL}};
static const struct derived derived[] = {{.name = "most_rows"}, {.name = NULL}};
static const struct problem sample_problem = {.name = "softmax",
                                              .summary = "",
                                              .axes = axes,
                                              .derived = derived,
                                              .tensors = no_tensors,
                                              .arguments = no_arguments};

static void fill_published_scores(void)
{
    result.scores = (struct result_scores){.present = true,
                                           .compared = true,
                                           .seen_quadrants = {3, 0, 1, 0, 0},
                                           .unseen_quadrants = {20, 2, 3, 1, 10}};
    for (int i = 0; i < SCORE_NAMES; i++) {
        result.scores.seen[i] =
            (struct score_value){(enum score_state)(i % 3), i % 3 == SCORE_VALUE ? i / 8.0 : 0, "a"};
        result.scores.unseen[i] = (struct score_value){SCORE_VALUE, -i / 4.0, "why it is so"};
    }
}

static void fill_configurations(void)
{
    for (int i = 0; i < 40; i++) {
        struct config_result *c = &results[i];
        const long rows = 1 + i * 37, cols = i < 4 ? 4096L << i : 1 + i * 1031L;

        c->config = (struct config){
            .problem = &sample_problem, .value = {rows, cols, i % 2}, .seed = 7 + (uint64_t)i};
        snprintf(c->line, sizeof c->line, "rows=%ld cols=%ld input=%s seed=%d", rows, cols,
                 i % 2 ? "wide" : "normal", 7 + i);
        c->derived_known = true;
        c->derived[0] = rows + i % 5;
        c->flops = 5.0 * (double)(rows * cols);
        c->bytes = 8.0 * (double)(rows * cols);
        c->judged = 3 * rows * cols;
        c->wrong = i;
        c->open = i % 3;
        c->witnessed = 64;
        c->arithmetic = i % 4;
        c->reason.tensor = -1;
        c->published_judged = i % 5 != 0;
        c->published_pass = i % 2;
        c->oracle_quality = (struct oracle_quality){i % 7 == 0, i % 2, i % 3 == 0, i % 14 == 0};
        c->timing.baseline_ms = i % 3;
        c->baseline_judged = i % 4 != 1;
        c->baseline_outcome = i % 4 == 2 ? OUTCOME_WRONG : OUTCOME_PASS;
        c->timing.baseline_ratio =
            i % 3 ? (struct interval){true, 1 / 3.0, 0, i % 2 ? INFINITY : 0.7} : (struct interval){0};
        snprintf(c->workload, sizeof c->workload, "%s", i % 4 ? "" : "6fe24f1a-0003");
        c->calls = i % 3 * 1000;
        c->errors = (struct greatest_errors){i % 5 != 0, i / 64.0, i % 7 ? 0.5 : INFINITY};
        c->timing.unmet = i % 6 == 0 ? "the time was up" : NULL;
        c->timing.disturbed = i % 11 == 0;
        c->timing.bound = (enum bound)(i % BOUND_COUNT);
    }
    results[37].reason = (struct reason){.cause = CAUSE_VALUE, .stage = STAGE_MOVED, .tensor = -1};
    results[38].reason = (struct reason){CAUSE_GUARD, STAGE_FRESH, SIDE_ABOVE, 1};
    results[39].reason = (struct reason){.cause = CAUSE_CAPS, .stage = STAGE_NOT_RUN, .tensor = -1};
    results[36].outcome = OUTCOME_WRONG;
    results[36].reason = (struct reason){.cause = CAUSE_VALUE, .stage = STAGE_TIMED, .tensor = -1};
    strcpy(results[36].timed_line, "rows=1 cols=3 input=normal seed=8");
    for (int i = 37; i < 40; i++)
        results[i].timing.present = false;
}

static const char *const check_options[] = {"--device", "host", "--contract", "my space", NULL};

static void fill_diagnosis(void)
{
    result.diagnosis = (struct diagnosis){
        .present = true,
        .minimal = results[37],
        .locally_minimal = true,
        .shrink_runs = 41,
        .pattern = {true, "the last 3 of 4099 along cols", 2, {"....#", "...o#"}},
        .rule = {.present = true,
                 .text = "cols % 4096 != 0",
                 .fails_inside = 37,
                 .inside = 37,
                 .passes_outside = 27,
                 .outside = 27,
                 .precision = 0.99,
                 .recall = 1,
                 .runs = 64,
                 .explained = 41,
                 .failures = 41},
        .kind = {{.outcome = OUTCOME_CRASH,
                  .words = "raised ValueError (line 12)",
                  .count = 7,
                  .line = "rows=3 cols=4 input=peak seed=5",
                  .rule = {.present = true,
                           .text = "rows % 3 == 0",
                           .fails_inside = 8,
                           .inside = 8,
                           .passes_outside = 9,
                           .outside = 9,
                           .precision = 1,
                           .recall = 1,
                           .runs = 80,
                           .explained = 15,
                           .failures = 15}},
                 {.outcome = OUTCOME_OVERRUN, .count = 3, .rule = {.reason = "none fits", .runs = 4}}},
        .kinds = 2,
        .content = {.present = true,
                    .kind = RESULT_CONTENT_LEAST,
                    .line = "rows=1 cols=5 input=peak seed=1",
                    .passing = "seed=7",
                    .places = "x[0,3..4]",
                    .elements = 2,
                    .of = 5,
                    .item = {{"x[0,3]", 61.25, -0.5}, {"x[0,4]", NAN, 0}},
                    .items = 2,
                    .special = "each the greatest of its row",
                    .values = "seed=7 keep=x[0,3..4]",
                    .runs = 23},
        .seconds = 1.25,
        .late = true};
    strcpy(result.diagnosis.minimal.line, "rows=1 cols=1 input=normal seed=1");
}

void fill_full_result(void)
{
    static struct finding findings[] = {{FINDING_CEILING, "rows=1: 0.1 ms, but the hardware needs 1 ms"},
                                        {FINDING_REPLAY, "it answered with \"old\" results"}};

    fill_result();
    fill_configurations();
    fill_published_scores();
    fill_diagnosis();
    result.problem_word = "./softmax";
    result.check_options = check_options;
    result.baseline = (struct result_baseline){"problems/softmax/baseline.c", "ab12", true};
    strcpy(result.driver, "550.54");
    strcpy(result.remarks, "caps: 256 MB and 4e8 flops for one configuration");
    strcpy(result.started, "2026-11-23T11:00:00Z");
    strcpy(result.command_line, "verify ./softmax bad/tile4096.c --device host");
    result.peaks.measured_gbps = 20.5;
    result.downgrade = true;
    result.published_judged = result.published_tolerance = true;
    result.published_verdict = VERDICT_GENERAL;
    result.finding = findings;
    result.finding_count = 2;
    result.coverage = (struct result_coverage){2, 412, 419, 5, 2};
    result.branches = (struct result_branches){.present = true,
                                               .taken = 51,
                                               .count = 53,
                                               .called = 240,
                                               .configurations = 258,
                                               .added = 3,
                                               .seconds = 0.5,
                                               .note = "a note on branches",
                                               .never = {{"a.c", 118, "if (cols > 1 << 24)", "to line 119"},
                                                         {"b.h", 204, "switch (k) {", "another value"}},
                                               .nevers = 2};
    result.phase = (struct phase_seconds){0.5, 0.25, 0.75, 1, 2, 3, 4, 5.125};
    result.company = (struct company){true, true, 3, 2};
    result.limits = (struct limits){20, 8589934592, 256, 600};
    result.partial = true;
    strcpy(result.partial_reason, "--budget of 600 s was over: 2 not timed");
    strcpy(result.forbid, "cublas, cutlass");
    result.forbid_blind = true;
    strcpy(result.forbid_launches, "7 kernels launched");
    strcpy(result.unseen_given, "given.set");
    result.seen_stands_in = true;
    result.own_tolerance.present = true;
    result.own_tolerance.atol = 0.001;
    result.own_tolerance.rtol = 0.01;
    strcpy(result.no_sandbox, "bubblewrap is missing");
    strcpy(result.without, "fresh,moved");
    result.untimed = 2;
}
