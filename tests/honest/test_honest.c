/* Every problem's program with switches. Honest settings have no wrong element in any input class, mutants
 * have some, and a bound that is wrong either way shows. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "share.h"
#include "verify/device/memory.h"
#include "margins.h"
#include "skip.h"

Suite *honest_suite(void);
Suite *mutants_suite(void);
Suite *honest_cuda_suite(void);

/* The part of the test that varies from run to run, and its size. */
struct attempt {
    const char *device;
    int capability; /* -1: the device's own */
    struct margin_plan plan;
};

static struct margins margins;
static struct program program;
static struct judge_report report;
static struct device device;

static struct bed open_bed(const struct problem *problem, const struct attempt *attempt)
{
    char error[4096] = "";
    ck_assert_msg(device_open(&device, attempt->device, error, sizeof error) == 0, "%s", error);
    ck_assert_msg(program_open(&program, problem, &device, error, sizeof error) == 0, "%s", error);
    memset(&margins, 0, sizeof margins);
    return (struct bed){.problem = problem,
                        .output = problem_first_output(problem),
                        .reference = reference_find(problem, problem_first_output(problem)),
                        .memory = memory_of(device.backend),
                        .device = &device,
                        .capability = attempt->capability < 0 ? device.capability : attempt->capability,
                        .report = &report};
}

/* Honest settings, then mutants; margins_print has printed the details. */
static void run(const struct problem *problem, const struct attempt *attempt)
{
    const struct bed bed = open_bed(problem, attempt);
    if (attempt->plan.settings > 0)
        ck_assert_int_eq(margins_honest(&margins, &bed, &program, &attempt->plan), 0);
    if (attempt->plan.brief)
        ck_assert_int_eq(margins_mutants(&margins, &bed, &program, &attempt->plan), 0);
}

static int64_t honest_rejected(void)
{
    int64_t wrong = 0;
    for (int c = 0; c < MARGIN_CLASSES; c++)
        wrong += margins.class[c].wrong;
    return wrong;
}

/* The greatest honest ratio of all classes. */
static double honest_ratio(void)
{
    double ratio = 0;
    for (int c = 0; c < MARGIN_CLASSES; c++)
        ratio = margins.class[c].honest > ratio ? margins.class[c].honest : ratio;
    return ratio;
}

/* The number of mutants that ran, had to be rejected and were not; *name is the last. */
static int mutants_missed(int capability, const char **name)
{
    int missed = 0;
    for (int i = 0; i < program.mutant_count; i++)
        if (margins.mutant[i].runs > 0 && !margins.mutant[i].rejected &&
            !mutant_admitted(&program, i, capability)) {
            *name = program.mutants[i].name;
            missed++;
        }
    return missed;
}

static void expect_honest(const struct problem *problem, const struct attempt *attempt)
{
    run(problem, attempt);
    ck_assert_msg(honest_rejected() == 0, "%s: honest settings were rejected", problem->name);
    ck_assert_msg(honest_ratio() <= 1,
                  "%s: an honest setting exceeds the allowed error before its last "
                  "rounding, by a ratio of %.3g",
                  problem->name, honest_ratio());
    program_close(&program);
}

static void expect_rejected(const struct problem *problem, const struct attempt *attempt)
{
    const char *name = "";
    run(problem, attempt);
    const int missed =
        mutants_missed(attempt->capability < 0 ? device.capability : attempt->capability, &name);
    ck_assert_msg(missed == 0, "%s: %d mutants were accepted, %s among them", problem->name, missed, name);
    program_close(&program);
}

#define NEED_PROGRAM(problem)                                                                                \
    if (!program_exists(problem))                                                                            \
    SKIP_TEST("no program with switches")

static const struct problem *problem_at(int i)
{
    return problem_registry[i];
}

static int problem_count(void)
{
    int count = 0;
    while (problem_registry[count])
        count++;
    return count;
}

START_TEST(honest_settings_pass)
{
    SHARE_TEST(_i, 17);
    NEED_PROGRAM(problem_at(_i));
    const struct attempt attempt = {
        .device = "host", .capability = -1, .plan = {.seed = 1, .settings = 8, .configs = 30}};
    expect_honest(problem_at(_i), &attempt);
}
END_TEST

/* Most show on small configurations. The whole set shows those that need a long sum or a late token. */
START_TEST(small_configurations_reject_most_mutants)
{
    SHARE_TEST(_i, 17);
    NEED_PROGRAM(problem_at(_i));
    const struct attempt attempt = {.device = "host",
                                    .capability = -1,
                                    .plan = {.seed = 1, .configs = 24, .must_only = true, .brief = true}};
    const char *name = "";
    int ran = 0;
    run(problem_at(_i), &attempt);
    for (int i = 0; i < program.mutant_count; i++)
        ran += margins.mutant[i].runs > 0;
    ck_assert_int_ge(ran, 30);
    ck_assert_msg(mutants_missed(0, &name) <= ran * 2 / 5,
                  "%s: %d of %d mutants were accepted, %s among them", program.problem->name,
                  mutants_missed(0, &name), ran, name);
    program_close(&program);
}
END_TEST

/* The set that `standard` draws. */
START_TEST(the_standard_set_rejects_every_mutant)
{
    NEED_PROGRAM(problem_at(_i));
    const struct attempt attempt = {
        .device = "host",
        .capability = -1,
        .plan = {.seed = 1, .configs = 24, .hunt = 300, .must_only = true, .brief = true}};
    expect_rejected(problem_at(_i), &attempt);
}
END_TEST

/* The matrix units' share of the honest, emulated bit by bit. */
START_TEST(emulated_matrix_units_pass)
{
    SHARE_TEST(_i, 17);
    NEED_PROGRAM(problem_at(_i));
    const struct attempt attempt = {
        .device = "host", .capability = 90, .plan = {.seed = 2, .settings = 8, .configs = 12}};
    expect_honest(problem_at(_i), &attempt);
}
END_TEST

/* The worst honest cases that searches have found, one for each problem. */
static const struct {
    const char *problem, *setting, *line;
} worst[] = {
    {"gemm_fp8",
     "order=up chains=2 block=64 split=16 merge=sequence engine=double scale=after scale_in=double "
     "round=twice",
     "m=222 n=9885 k=2 input=normal seed=2065435649"},
    {"gemm_w4a16",
     "order=up chains=1 block=32 split=1 merge=tree engine=kahan weight=rounded zero=inner total=steps",
     "m=127 n=8063 k=2 group=96 zero=low input=wide seed=176480390"},
    {"gemm_bf16", "engine=fp32 product=fused", "m=257 n=487 k=4 trans_b=1 input=wide seed=295161262"},
    {"gemm_f32",
     "order=ends lanes=2 block=4 split=1 merge=serial engine=kahan product=fused rest=last parts=tf32x3_raw",
     "m=609 n=6626 k=1 trans_b=0 input=normal seed=1336504050"},
    {"moe_up",
     "sum=double order=pairwise split=1 gate=bf16 up=bf16 silu=bf16 form=sigmoid exp=expf product=gate_first",
     "tokens=2187 hidden_dim=1 inter_dim=1816 experts=1 routing=even input=normal seed=1190610789"},
    {"paged_attention",
     "dot=pairwise scale=divide base=2 argument=separate max=split tile=64 split=100 normalize=row p=bf16",
     "batch=7 heads=128 kv_heads=8 head_dim=96 page_size=32 max_len=127 lengths=full table=shared past=nan "
     "input=wide "
     "seed=2137514348"},
    {"softmax", "", "rows=1 cols=4096 input=digits seed=1658711114"},
    {"kda",
     "chunk=64 fold=middle inverse=doubling form=uw beta=after sums=reversed scale=scores exponent=exp2 "
     "gates=serial "
     "state=double keys=bf16 solve=f32 written=bf16 carried=state scores=scores",
     "batch=2 t=45 heads=12 dk=64 dv=96 decay=published beta=sigmoid input=normal seed=1378181198"},
};
enum { WORST = sizeof worst / sizeof *worst };

/* Half of the allowed error is not enough for them, and all of it is. */
START_TEST(half_of_a_bound_rejects_the_worst_honest_case)
{
    SHARE_TEST(_i, 17);
    const struct problem *problem = problem_find(worst[_i].problem);
    struct attempt attempt = {.device = "host", .capability = -1};
    struct bed bed = open_bed(problem, &attempt);
    struct setting setting;
    struct config config;
    struct space_error error;
    struct margin margin;
    ck_assert(setting_parse(&program, worst[_i].setting, &setting));
    ck_assert_int_eq(config_parse(&config, problem, worst[_i].line, "test", &error), 0);
    memcpy(program.choice, setting.choice, sizeof setting.choice);
    ck_assert_int_eq(bed_run(&bed, &program, &config, &margin), 0);
    ck_assert_msg(margin.wrong == 0 && margin.unrounded <= 1, "%s: %.3g", problem->name, margin.unrounded);
    bed.loosened = 0.5;
    ck_assert_int_eq(bed_run(&bed, &program, &config, &margin), 0);
    ck_assert_msg(margin.wrong > 0 || margin.unrounded > 1, "%s: half is enough, %.3g", problem->name,
                  margin.unrounded);
    program_close(&program);
}
END_TEST

START_TEST(four_times_a_bound_accepts_a_mutant)
{
    SHARE_TEST(_i, 17);
    NEED_PROGRAM(problem_at(_i));
    const struct problem *problem = problem_at(_i);
    const struct attempt attempt = {
        .device = "host",
        .capability = -1,
        .plan = {.seed = 1, .configs = 24, .hunt = 30, .must_only = true, .excess = 4}};
    if (problem->arithmetic_class == ARITHMETIC_EXACT)
        SKIP_TEST("what is right or not has no allowed error");
    const struct bed bed = open_bed(problem, &attempt);
    ck_assert_int_eq(margins_mutants(&margins, &bed, &program, &attempt.plan), 0);
    const double least = margins_least_excess(&margins);
    ck_assert_msg(
        least > 1 && least <= 4,
        "%s: no class rejects a mutant that four times its allowed error accepts; the least excess is %.3g",
        problem->name, least);
    program_close(&program);
}
END_TEST

START_TEST(settings_are_drawn_alike_and_reach_every_admitted_value)
{
    NEED_PROGRAM(problem_at(_i));
    const struct attempt attempt = {.device = "host", .capability = -1};
    open_bed(problem_at(_i), &attempt);
    for (int s = 0; s < program.switch_count; s++)
        for (int v = 0; program.switches[s].values[v]; v++) {
            bool reached = false;
            for (int i = 0; i < 256 && !reached; i++)
                reached = setting_draw(&program, 0, 5, i).choice[s] == v;
            ck_assert_msg(reached == (program.switches[s].capability[v] == 0), "%s: %s=%s",
                          program.problem->name, program.switches[s].name, program.switches[s].values[v]);
        }
    const struct setting once = setting_draw(&program, 90, 7, 3), again = setting_draw(&program, 90, 7, 3);
    ck_assert_mem_eq(&once, &again, sizeof once);
    program_close(&program);
}
END_TEST

START_TEST(honest_settings_pass_on_a_gpu)
{
    NEED_PROGRAM(problem_at(_i));
    const struct attempt attempt = {
        .device = "cuda", .capability = -1, .plan = {.seed = 1, .settings = 64, .configs = 20, .large = 1}};
    expect_honest(problem_at(_i), &attempt);
}
END_TEST

START_TEST(the_standard_set_rejects_every_mutant_on_a_gpu)
{
    NEED_PROGRAM(problem_at(_i));
    const struct attempt attempt = {
        .device = "cuda",
        .capability = -1,
        .plan = {.seed = 1, .configs = 24, .hunt = 300, .must_only = true, .brief = true}};
    expect_rejected(problem_at(_i), &attempt);
}
END_TEST

static TCase *per_problem(Suite *suite, const char *name, double seconds)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, seconds);
    suite_add_tcase(suite, tcase);
    return tcase;
}

Suite *honest_suite(void)
{
    Suite *suite = suite_create("honest");
    TCase *tcase = per_problem(suite, "margins", 120);
    tcase_add_loop_test(tcase, honest_settings_pass, 0, problem_count());
    tcase_add_loop_test(tcase, emulated_matrix_units_pass, 0, problem_count());
    tcase_add_loop_test(tcase, small_configurations_reject_most_mutants, 0, problem_count());
    tcase_add_loop_test(tcase, half_of_a_bound_rejects_the_worst_honest_case, 0, WORST);
    tcase_add_loop_test(tcase, four_times_a_bound_accepts_a_mutant, 0, problem_count());
    tcase_add_loop_test(tcase, settings_are_drawn_alike_and_reach_every_admitted_value, 0, problem_count());
    return suite;
}

Suite *mutants_suite(void)
{
    Suite *suite = suite_create("mutants");
    TCase *tcase = per_problem(suite, "standard", 300);
    tcase_add_loop_test(tcase, the_standard_set_rejects_every_mutant, 0, problem_count());
    return suite;
}

Suite *honest_cuda_suite(void)
{
    Suite *suite = suite_create("honest-cuda");
    TCase *tcase = per_problem(suite, "margins", 600);
    tcase_add_loop_test(tcase, honest_settings_pass_on_a_gpu, 0, problem_count());
    tcase_add_loop_test(tcase, the_standard_set_rejects_every_mutant_on_a_gpu, 0, problem_count());
    return suite;
}
