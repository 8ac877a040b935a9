/* The conditions of the real bugs (tests/corpora/bugs/) that are not held out. They are planted as reported,
 * with the sets and the 80 runs of `quick`. It measures in seconds how much of a rule is found without
 * running a kernel. UNSEEN_EXPLAIN_BUGS=3 plants each with three seeds and prints the table and a line for
 * each miss. UNSEEN_EXPLAIN_CODE=1 gives the search the condition as the candidate's code would have it.
 * UNSEEN_EXPLAIN_EFFORT=standard takes the sets and the 200 runs of that effort. Runs in the
 * repository root. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/corpora/bugs/list.h"
#include "explain_planted.h"
#include "suites.h"

enum { MOST_BUGS = 256 };

/* The sets of `quick` and `standard` on the host. */
static const struct effort_sets {
    int runs, unseen, scouts;
} quick = {80, 35, DRAW_SCOUTS}, standard = {200, 300, 750};

static const struct effort_sets *sets_asked(void)
{
    const char *effort = getenv("UNSEEN_EXPLAIN_EFFORT");
    return effort && strcmp(effort, "standard") == 0 ? &standard : &quick;
}

struct error_stats {
    int asked, met, right, partly, misleading, none;
};

/* Three contents in ten, by a hash of the seed. */
static int answer_rarely(struct planted *planted, const struct config *config)
{
    const uint64_t hash = (config->seed + 1) * 0x9e3779b97f4a7c15u;
    return condition_holds(planted->condition, config) && (hash >> 32) % 10 < 3;
}

static void judge(const struct bug *bug, struct planted *planted, const struct rule *rule, uint64_t seed,
                  bool tell, struct error_stats *tally)
{
    struct planted_agreement told = {0};
    ck_assert_ptr_null(strstr(rule->text, "trans_b %")); /* a flag has a value, and no remainder */
    if (rule->present)
        told = planted_agree(planted, rule->text, seed);
    const bool right = rule->present && told.all >= 0.98, sided = rule->kind != RULE_TWO_SIDED;
    const bool true_side = rule->present && sided && told.side[rule->kind == RULE_PARTIAL] >= 0.98;
    tally->right += right;
    tally->partly += rule->present && !right && (true_side || told.all >= 0.9);
    tally->misleading += rule->present && !right && !true_side && told.all < 0.9;
    tally->none += !rule->present;
    if (tell && !right)
        printf("%s, seed %d: '%s' explained as '%s' (kind %d%s) %s: agreement %.3f\n", bug->name, (int)seed,
               bug->when, rule->text, (int)rule->kind, true_side ? ", true" : "", rule->reason, told.all);
}

static void try_bug(const struct bug *bug, const struct ground *ground, uint64_t seed, bool tell,
                    struct error_stats *tally)
{
    struct planted planted = plant(ground, bug->when);
    struct rule rule = {.present = false};
    struct clue_list clues = {.count = 0};
    planted.answer = bug->necessary ? answer_rarely : NULL;
    if (getenv("UNSEEN_EXPLAIN_CODE")) {
        planted_clues(&clues, bug->when);
        planted.clues = &clues;
    }
    tally->asked++;
    if (planted_explain(&planted, sets_asked()->runs, seed, &rule)) {
        tally->met++;
        judge(bug, &planted, &rule, seed, tell, tally);
    } else if (tell) {
        printf("%s, seed %d: '%s' not met\n", bug->name, (int)seed, bug->when);
    }
    planted_clear(&planted);
    clue_list_clear(&clues);
}

static void try_bugs(const struct bug *bug, int bugs, uint64_t seed, const char *only, bool tell,
                     struct error_stats *tally)
{
    struct ground ground;
    const char *problem = "";
    for (int i = 0; i < bugs; i++) {
        if (bug[i].held_out || (only && strcmp(bug[i].problem, only) != 0))
            continue;
        if (strcmp(problem, bug[i].problem) != 0) {
            if (problem[0] != '\0')
                ground_close(&ground);
            problem = bug[i].problem;
            ground_open(&ground, problem, seed, sets_asked()->unseen, sets_asked()->scouts, 500);
        }
        try_bug(&bug[i], &ground, seed, tell, &tally[bug[i].necessary]);
    }
    if (problem[0] != '\0')
        ground_close(&ground);
}

static void print_tally(const char *name, const struct error_stats *tally)
{
    printf("  %-9s asked %3d  met %3d  right %3d  partly %2d  misleading %2d  none %3d\n", name, tally->asked,
           tally->met, tally->right, tally->partly, tally->misleading, tally->none);
}

/* For one problem, unless asked for all. */
START_TEST(conditions_of_real_bugs_are_explained_with_the_runs_of_quick)
{
    static struct bug bug[MOST_BUGS];
    const char *asked = getenv("UNSEEN_EXPLAIN_BUGS");
    struct error_stats tally[2] = {{0}};
    const int bugs = bug_list(bug, MOST_BUGS);
    ck_assert_int_gt(bugs, 100);
    for (int seed = 1; seed <= (asked ? atoi(asked) : 1); seed++)
        try_bugs(bug, bugs, (uint64_t)seed, asked ? NULL : "gemm_f32", asked != NULL, tally);
    if (asked) {
        print_tally("always", &tally[0]);
        print_tally("rarely", &tally[1]);
    } else {
        ck_assert_int_gt(tally[0].met, 5);
        ck_assert_int_ge(tally[0].right, tally[0].met - 1);
        ck_assert_int_eq(tally[0].misleading, 0);
    }
}
END_TEST

void explain_bugs_tests(TCase *tcase)
{
    tcase_add_test(tcase, conditions_of_real_bugs_are_explained_with_the_runs_of_quick);
}
