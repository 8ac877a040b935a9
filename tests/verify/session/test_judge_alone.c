/* The judge without any candidate: one judge serves several of them in turns, on configurations of other
 * shapes, and starts no process. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "suites.h"
#include "verify/worker/child.h"
#include "verify/sandbox/child_table.h"
#include "verify/session/buffers.h"
#include "verify/session/judge.h"

static struct device device;
static struct status status;
static struct phase_seconds seconds;
static struct judge judge;

/* The outputs of one candidate. */
struct candidate {
    struct config config;
    struct instance instance;
    struct buffers buffers;
};

static void open_candidate(struct candidate *c, const char *problem, const char *line)
{
    struct space_error error;
    char why[200];
    ck_assert_int_eq(config_parse(&c->config, problem_find(problem), line, "test", &error), 0);
    ck_assert_int_eq(config_instantiate(&c->config, 0, &c->instance), 0);
    c->buffers =
        (struct buffers){.problem = c->config.problem, .device = &device, .workers = 1, .status = &status};
    buffers_open(&c->buffers);
    ck_assert_int_eq(buffers_create(&c->buffers, &c->instance, 1, false, why, sizeof why), 0);
    ck_assert(buffers_fill(&c->buffers, &c->config, &c->instance, 0));
}

static void close_candidate(struct candidate *c)
{
    buffers_close(&c->buffers);
    instance_clear(&c->instance);
}

static struct judging judging_of(const struct candidate *c)
{
    struct judging judging = {.config = &c->config, .instance = &c->instance, .thorough = true};
    buffers_judged(&c->buffers, judging.tensor);
    return judging;
}

static void judge_one(const struct candidate *c, enum outcome outcome, struct config_result *result)
{
    const struct judging judging = judging_of(c);
    struct output_result output = {.outcome = OUTCOME_PASS};
    struct call_result call = {.output = &output};
    struct totals totals = {result, -1};
    memset(result, 0, sizeof *result);
    ck_assert_msg(judge_call(&judge, &judging, &call, &totals), "%s", status.error);
    ck_assert_msg(call.outcome == outcome, "%s: %s", outcome_name(call.outcome), call.detail);
    ck_assert(call.judged);
}

START_TEST(one_judge_serves_several_candidates_in_turns)
{
    enum { Y = 1, TURNS = 3 };
    static struct candidate right, wrong;
    static struct config_result result;
    char error[400];
    ck_assert_int_eq(device_open(&device, "host", error, sizeof error), 0);
    open_candidate(&right, "softmax", "rows=3 cols=100 input=normal seed=5");
    open_candidate(&wrong, "softmax", "rows=7 cols=33 input=normal seed=6");
    status.memory = right.buffers.memory;
    judge_open(&judge,
               &(struct judge_options){.problem = right.config.problem, .device = &device, .threads = 1},
               &seconds, &status);
    const struct judging first = judging_of(&right), second = judging_of(&wrong);
    ck_assert(judge_expect(&judge, &first, 0, first.tensor[Y].got));
    ck_assert(judge_expect(&judge, &second, 0, second.tensor[Y].got));
    float *const y = second.tensor[Y].got;
    y[2 * 33 + 5] += 0.5F;
    for (int turn = 0; turn < TURNS; turn++) {
        judge_one(&right, OUTCOME_PASS, &result);
        ck_assert_int_eq(result.judged, 3 * 100);
        judge_one(&wrong, OUTCOME_WRONG, &result);
        ck_assert_int_eq(result.wrong, 1);
        ck_assert_int_eq(result.worst.index, 2 * 33 + 5);
    }
    ck_assert_int_eq(status.code, SESSION_OK);
    ck_assert_int_eq(child_count(), 0);
    judge_close(&judge);
    close_candidate(&right);
    close_candidate(&wrong);
}
END_TEST

/* --- enclosures shared by judges --- */

static int64_t hits(struct shared_judge *shared)
{
    return enclosure_cache_hits(shared_judge_enclosures(shared, &device, BACKEND_HOST));
}

/* A judge of its own, as for another candidate, judges the output for draw `base` of the inputs; -1: of
 * unknown inputs. */
static void judge_by_another(const struct candidate *c, struct shared_judge *shared, int base,
                             enum outcome outcome, struct config_result *result)
{
    const struct content drawn = {.base = base};
    struct judging judging = judging_of(c);
    struct output_result output = {.outcome = OUTCOME_PASS};
    struct call_result call = {.output = &output};
    struct totals totals = {result, -1};
    memset(result, 0, sizeof *result);
    judging.drawn = base < 0 ? NULL : &drawn;
    judge_open(&judge,
               &(struct judge_options){
                   .problem = c->config.problem, .device = &device, .threads = 1, .shared = shared},
               &seconds, &status);
    ck_assert_msg(judge_call(&judge, &judging, &call, &totals), "%s", status.error);
    ck_assert_msg(call.outcome == outcome, "%s: %s", outcome_name(call.outcome), call.detail);
    judge_close(&judge);
}

START_TEST(judges_share_enclosures_of_equal_inputs_only)
{
    enum { C = 2 };
    static struct candidate candidate;
    static struct config_result first, again;
    struct shared_judge shared;
    char error[400];
    ck_assert_int_eq(device_open(&device, "host", error, sizeof error), 0);
    open_candidate(&candidate, "gemm_f32", "m=7 n=9 k=65 trans_b=0 input=normal seed=5");
    status.memory = candidate.buffers.memory;
    shared_judge_open(&shared, 1, 0);
    judge_open(&judge,
               &(struct judge_options){.problem = candidate.config.problem, .device = &device, .threads = 1},
               &seconds, &status);
    const struct judging judging = judging_of(&candidate);
    ck_assert(judge_expect(&judge, &judging, 0, judging.tensor[C].got));
    judge_close(&judge);
    judge_by_another(&candidate, &shared, 0, OUTCOME_PASS, &first);
    ck_assert_int_eq(hits(&shared), 0);
    ck_assert_int_gt(first.witnessed, 0);
    judge_by_another(&candidate, &shared, 0, OUTCOME_PASS, &again);
    ck_assert_int_eq(hits(&shared), 1);
    ck_assert_int_eq(again.witnessed, 0); /* the first judge has audited these enclosures */
    ck_assert_int_eq(again.judged, first.judged);
    ck_assert(again.worst.index == first.worst.index && again.worst.error == first.worst.error);
    float *const c = judging.tensor[C].got;
    c[2 * 9 + 5] += 0.5F;
    judge_by_another(&candidate, &shared, 0, OUTCOME_WRONG, &again);
    ck_assert_int_eq(hits(&shared), 2);
    ck_assert(again.wrong == 1 && again.worst.index == 2 * 9 + 5 && again.worst.witnessed);
    judge_by_another(&candidate, &shared, 1, OUTCOME_WRONG, &again);
    judge_by_another(&candidate, &shared, -1, OUTCOME_WRONG, &again);
    ck_assert_int_eq(hits(&shared), 2); /* another draw, and inputs that are no draw */
    ck_assert_int_eq(status.code, SESSION_OK);
    shared_judge_close(&shared);
    close_candidate(&candidate);
}
END_TEST

TCase *judge_alone_case(void)
{
    TCase *tests = tcase_create("judge alone");
    tcase_add_test(tests, one_judge_serves_several_candidates_in_turns);
    tcase_add_test(tests, judges_share_enclosures_of_equal_inputs_only);
    return tests;
}
