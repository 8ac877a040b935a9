/* The generator of planted faults: different at every seed, and its truth is the truth. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/draw/cost.h"
#include "plant_run.h"
#include "suites.h"

enum { PROBLEMS = 16, FAULTS_EACH = 2, TRIALS = PROBLEMS * (FAULTS_EACH + 1), MANY = 40 };

/* Small enough for configurations that take no time. */
static const struct draw_caps small_caps = {.bytes = 2e6, .flops = 1e7};

static struct plant_field field[PROBLEMS];
static struct plant plant[TRIALS];
static struct plant_trial trial[TRIALS];
static char folder[64], seen[TRIALS][PLANT_PATH];
static struct plant drawn[PROBLEMS][MANY]; /* of seed 1 */

static char *read_text(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    const ssize_t length = getdelim(&text, &size, '\0', file);
    fclose(file);
    ck_assert_int_gt((int)length, 1000);
    return text;
}

static char *write_fault(int problem, bool cuda, uint64_t seed, int number)
{
    char path[PLANT_PATH], root[PLANT_PATH / 2];
    struct plant_field own;
    struct plant fault;
    ck_assert_ptr_nonnull(getcwd(root, sizeof root));
    ck_assert_int_eq(plant_field_open(&own, problem_registry[problem], cuda, root, &small_caps), 0);
    ck_assert_int_eq(plant_draw(&fault, &own, seed, number), 0);
    snprintf(path, sizeof path, "%s/source_%d", folder, (int)getpid());
    ck_assert_int_eq(plant_write(&fault, &own, false, path), 0);
    plant_clear(&fault);
    plant_field_clear(&own);
    char *text = read_text(path);
    unlink(path);
    return text;
}

START_TEST(a_seed_and_a_number_name_one_source_and_others_name_others)
{
    for (int cuda = 0; cuda < 2; cuda++) {
        char *one = write_fault(_i, cuda, 1, 0), *again = write_fault(_i, cuda, 1, 0);
        char *other_seed = write_fault(_i, cuda, 2, 0), *other_number = write_fault(_i, cuda, 1, 1);
        ck_assert_str_eq(one, again);
        ck_assert_str_ne(strstr(one, "#define PLANT_CONDITION"),
                         strstr(other_seed, "#define PLANT_CONDITION"));
        ck_assert_str_ne(strstr(one, "#define PLANT_CONDITION"),
                         strstr(other_number, "#define PLANT_CONDITION"));
        ck_assert_ptr_nonnull(strstr(one, cuda ? "cudaStream_t stream" : "void *stream"));
        ck_assert_ptr_null(strstr(one, "#include \"")); /* it may lie anywhere */
        free(one), free(again), free(other_seed), free(other_number);
    }
}
END_TEST

START_TEST(the_grammar_is_used_whole)
{
    int kind[PLANT_KINDS] = {0}, join[3] = {0}, damage[PLANT_DAMAGES] = {0}, sources = 0, sizes = 0;
    for (int p = 0; p < PROBLEMS; p++)
        for (int i = 0; i < MANY; i++) {
            const struct plant *d = &drawn[p][i];
            kind[d->term[0].kind]++;
            join[d->join]++;
            damage[d->damage]++;
            sources += d->source != drawn[p][0].source;
            sizes += strstr(d->when, "_rows") || strstr(d->when, "shortest");
        }
    for (int k = 0; k < PLANT_KINDS; k++)
        ck_assert_msg(kind[k] >= 10, "only %d of kind '%s'", kind[k], plant_kind_name((enum plant_kind)k));
    for (int d = 0; d < PLANT_DAMAGES; d++)
        ck_assert_msg(damage[d] >= 10, "only %d of %s", damage[d], plant_damage_code((enum plant_damage)d));
    ck_assert(join[PLANT_AND] > 30 && join[PLANT_OR] > 20 && join[PLANT_SINGLE] > 100);
    ck_assert_int_gt(sources, PROBLEMS * MANY / 2);
    ck_assert_int_ge(sizes, 5); /* for two problems only */
}
END_TEST

START_TEST(an_example_lies_in_the_contract_the_caps_and_the_condition)
{
    int reachable = 0;
    for (int i = 0; i < MANY; i++) {
        const struct plant *d = &drawn[_i][i];
        struct costing costing = costing_of(&field[_i].space, &small_caps);
        struct space_error error = {""};
        struct cost cost;
        ck_assert_str_eq(d->verdict, plant_on_seen(d, &field[_i]) ? "broken"
                                     : d->damage == PLANT_REFUSED ? "limited"
                                                                  : "specialized");
        if (!d->reachable)
            continue;
        reachable++;
        ck_assert_msg(space_contains(&field[_i].space, &d->example, &error), "%s", error.text);
        ck_assert(draw_cost(&costing, &d->example, &cost));
        ck_assert_msg(plant_may_show(d, &d->example), "%s", d->when);
    }
    ck_assert_int_gt(reachable, MANY / 2);
}
END_TEST

/* --- statements that are compared with the truth --- */

/* A fault of gemm_f32 with a simple truth. */
static const struct plant_field *own_fault(struct plant *own)
{
    char why[256];
    int f = 0;
    *own = (struct plant){.problem = problem_find("gemm_f32"), .seed = 1};
    own->condition = condition_parse(own->problem, "k > 32", why, sizeof why);
    ck_assert_ptr_nonnull(own->condition);
    while (field[f].problem != own->problem)
        f++;
    return &field[f];
}

START_TEST(a_rule_is_held_against_the_truth_on_both_sides)
{
    static const struct {
        const char *rule;
        double least, most;
        bool inside, outside; /* right there always */
    } cases[] = {{"k > 32", 1, 1, true, true},          {"33 <= k", 1, 1, true, true},
                 {"k <= 32", 0, 0, false, false},       {"any", 0.5, 0.5, false, true},
                 {"m < 1", 0.5, 0.5, true, false},      {"k > 40", 0.9, 0.99, true, false},
                 {"k > 1000", 0.6, 0.85, true, false},  {"k > 8", 0.6, 0.99, false, true},
                 {"k > 32 and m", -1, -1, false, false}};
    struct plant own;
    const struct plant_field *f = own_fault(&own);
    const struct plant_agreement agreement = plant_rule_agreement(&own, f, cases[_i].rule, 1000);
    ck_assert_msg(agreement.all >= cases[_i].least && agreement.all <= cases[_i].most, "'%s' agrees on %g",
                  cases[_i].rule, agreement.all);
    ck_assert_int_eq(agreement.inside == 1, cases[_i].inside);
    ck_assert_int_eq(agreement.outside == 1, cases[_i].outside);
    plant_clear(&own);
}
END_TEST
enum { RULES = 9 };

START_TEST(a_configuration_is_minimal_when_no_simpler_step_shows_the_fault)
{
    static const struct {
        const char *line;
        bool minimal;
    } cases[] = {{"m=1 n=1 k=33 trans_b=0", true},
                 {"m=1 n=1 k=34 trans_b=0", false},
                 {"m=2 n=1 k=33 trans_b=0", false},
                 {"m=1 n=1 k=33 trans_b=1", false},
                 {"m=1 n=1 k=33 trans_b=0 input=needle", false}};
    struct plant own;
    const struct plant_field *f = own_fault(&own);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct config config, step;
        struct space_error error;
        ck_assert_msg(config_parse(&config, own.problem, cases[i].line, "test", &error) == 0, "%s",
                      error.text);
        ck_assert_msg(plant_is_minimal(&own, f, &config, &step) == cases[i].minimal, "%s", cases[i].line);
    }
    plant_clear(&own);
}
END_TEST

/* --- real runs --- */

START_TEST(a_planted_fault_shows_where_its_truth_says_and_its_control_nowhere)
{
    const struct plant_trial *t = &trial[_i];
    ck_assert_msg(t->judged == 3, "%s: %d configurations judged: %s", t->path, t->judged, t->mismatch);
    ck_assert_msg(t->mismatch[0] == '\0', "%s: %s: %s", t->path, t->plant->when, t->mismatch);
    ck_assert_msg((t->failed > 0) == !t->control || t->plant->intermittent, "%s: %d failed", t->path,
                  t->failed);
}
END_TEST

static void die(const char *what)
{
    fprintf(stderr, "plant: %s\n", what);
    exit(2);
}

/* One small configuration where the fault has to show, and one where it must not; the tool draws a third. */
static bool find_both_sides(const struct plant *p, const struct plant_field *f, struct config side[2])
{
    struct costing costing = costing_of(&f->space, &small_caps);
    struct pcg *pcg = pcg_new(3, p->when);
    struct cost cost;
    bool found = p->reachable && plant_search(p, f, false, false, pcg, &side[1]);
    side[0] = p->example;
    for (int i = 0; found && i < 20000 && !plant_must_show(p, &side[0]); i++)
        if (!plant_random_config(f, pcg, &side[0]) || !draw_cost(&costing, &side[0], &cost))
            side[0] = p->example;
    pcg_free(pcg);
    return found && plant_must_show(p, &side[0]);
}

/* The first fault from `number` on with that damage and two sides; every damage has its turn. */
static int choose_fault(int t, int problem, enum plant_damage damage, int number)
{
    for (;; number++) {
        struct config side[2];
        char line[PLANT_CONFIG];
        if (plant_draw(&plant[t], &field[problem], 1, number) != 0)
            die("no fault could be drawn");
        if (plant[t].damage == damage && find_both_sides(&plant[t], &field[problem], side)) {
            FILE *out = fopen(seen[t], "we");
            for (int i = 0; out && i < 2; i++) {
                config_format(&side[i], line, sizeof line);
                fprintf(out, "%s\n", line);
            }
            if (!out || fclose(out) != 0)
                die("no room for the test's files");
            return number;
        }
        plant_clear(&plant[t]);
    }
}

static void plan_problem(int p)
{
    int number = 0;
    for (int i = 0; i <= FAULTS_EACH; i++) {
        const int t = p * (FAULTS_EACH + 1) + i;
        const int damage = (FAULTS_EACH * p + i) % PLANT_DAMAGES;
        snprintf(seen[t], sizeof seen[t], "%s/%d.seen", folder, t);
        number = choose_fault(t, p, (enum plant_damage)damage, number) + 1;
        trial[t] = (struct plant_trial){
            .plant = &plant[t], .field = &field[p], .seen = seen[t], .control = i == FAULTS_EACH};
        snprintf(trial[t].path, sizeof trial[t].path, "%s/%d.c", folder, t);
    }
}

/* The runs are made here, before Check forks its tests, which then only look. */
static void prepare(void)
{
    static char tool[PLANT_PATH], root[PLANT_PATH / 2];
    struct plant_running running = {.tool = tool,
                                    .parallel = 2,
                                    .seed = 1,
                                    .words = {"--unseen", "1", "--jobs", "1", "--no-explain", "--quiet"}};
    const ssize_t length = readlink("/proc/self/exe", tool, sizeof tool - 8);
    tool[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(tool, '/');
    strcpy(slash ? slash + 1 : tool, "unseen");
    strcpy(folder, "/tmp/unseen-plant-XXXXXX");
    if (!getcwd(root, sizeof root) || !mkdtemp(folder))
        die("no folder for the test's files");
    for (int p = 0; p < PROBLEMS; p++) {
        if (plant_field_open(&field[p], problem_registry[p], false, root, &small_caps) != 0)
            exit(2);
        for (int i = 0; i < MANY; i++)
            if (plant_draw(&drawn[p][i], &field[p], 1, i) != 0)
                die("no fault could be drawn");
        plan_problem(p);
    }
    if (plant_run(trial, TRIALS, &running) != 0)
        die("the planted faults could not be run");
}

static pid_t owner; /* Check's children end through exit() too */

static void remove_folder(void)
{
    char command[96];
    if (getpid() != owner)
        return;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0)
        fprintf(stderr, "plant: %s is left behind\n", folder);
}

Suite *plant_suite(void)
{
    Suite *suite = suite_create("plant");
    TCase *tcase = tcase_create("plant");
    prepare();
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_seed_and_a_number_name_one_source_and_others_name_others, 0, PROBLEMS);
    tcase_add_test(tcase, the_grammar_is_used_whole);
    tcase_add_loop_test(tcase, an_example_lies_in_the_contract_the_caps_and_the_condition, 0, PROBLEMS);
    tcase_add_loop_test(tcase, a_rule_is_held_against_the_truth_on_both_sides, 0, RULES);
    tcase_add_test(tcase, a_configuration_is_minimal_when_no_simpler_step_shows_the_fault);
    tcase_add_loop_test(tcase, a_planted_fault_shows_where_its_truth_says_and_its_control_nowhere, 0, TRIALS);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, plant_code_case());
    owner = getpid();
    atexit(remove_folder);
    return suite;
}
