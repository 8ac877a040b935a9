/* Random conditions planted on every problem, and how many are explained rightly.
 * UNSEEN_EXPLAIN_CONDITIONS=20 plants 20 of every kind on every problem, prints the table and a line for
 * each that was missed. Runs in the repository root. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain_planted.h"
#include "share.h"
#include "suites.h"

enum { RUNS = 200, UNSEEN = 300 };

struct count {
    int met, printed, good, bad, runs;
    int partly; /* sure of one side, and right about it */
};

static struct ground ground;

static void try_condition(int kind, uint64_t seed, struct pcg *stream, struct count *count, bool tell)
{
    char text[400];
    struct rule rule;
    planted_text(&ground, kind, stream, text, sizeof text);
    struct planted planted = plant(&ground, text);
    if (planted_explain(&planted, RUNS, seed, &rule)) {
        struct planted_agreement told = {.all = -1};
        if (rule.present)
            told = planted_agree(&planted, rule.text, seed);
        const double agreement = told.all;
        const bool sided = rule.present && rule.kind != RULE_TWO_SIDED;
        const bool true_side = sided && told.side[rule.kind == RULE_PARTIAL] >= 0.98;
        count->met++;
        count->runs += rule.runs;
        count->printed += rule.present;
        count->good += agreement >= 0.98;
        count->bad += rule.present && agreement < 0.9 && !true_side;
        count->partly += true_side && agreement < 0.98;
        if (tell && agreement < 0.98)
            printf("%s: '%s' explained as '%s' (%d%s) %s: agreement %.3f\n", ground.space.problem->name, text,
                   rule.text, (int)rule.kind, true_side ? ", true" : "", rule.reason, agreement);
    }
    planted_clear(&planted);
}

static void add(struct count *to, const struct count *count)
{
    to->met += count->met;
    to->printed += count->printed;
    to->good += count->good;
    to->bad += count->bad;
    to->partly += count->partly;
    to->runs += count->runs;
}

static void print_count(const char *name, const struct count *count)
{
    printf("  %-16s met %4d  printed %4d  right %4d  partly %2d  under 90%% %2d  runs %5.1f\n", name,
           count->met, count->printed, count->good, count->partly, count->bad,
           count->met ? (double)count->runs / count->met : 0);
}

/* Every other problem with each commit. */
enum { PARTS = 2 };

START_TEST(random_conditions_are_found_again)
{
    const char *asked = getenv("UNSEEN_EXPLAIN_CONDITIONS");
    const int each = asked ? atoi(asked) : 1;
    struct count kinds[PLANTED_KINDS] = {{0}}, all = {0};
    for (int p = 0; problem_registry[p]; p++) {
        if (!asked && strcmp(problem_registry[p]->name, "paged_attention") == 0)
            continue; /* seconds to draw, and tested above */
        if (!asked && !share_has(p, PARTS))
            continue;
        ground_open(&ground, problem_registry[p]->name, 5, UNSEEN, 0, asked ? 500 : 100);
        struct pcg *stream = pcg_new(5, problem_registry[p]->name);
        for (int kind = 0; kind < PLANTED_KINDS; kind++)
            for (int i = 0; i < each; i++)
                try_condition(kind, (uint64_t)i, stream, &kinds[kind], asked != NULL);
        pcg_free(stream);
        ground_close(&ground);
    }
    for (int kind = 0; kind < PLANTED_KINDS; kind++) {
        add(&all, &kinds[kind]);
        if (asked)
            print_count(planted_kind_name(kind), &kinds[kind]);
    }
    if (asked)
        print_count("all", &all);
    ck_assert_int_ge(all.met, 60 * each / (asked || share_size() == 1 ? 1 : PARTS));
    ck_assert_int_ge(10 * all.printed, 9 * all.met);
    ck_assert_int_ge(10 * all.good, 9 * all.printed);
    ck_assert_int_le(50 * all.bad, all.printed);
}
END_TEST

void explain_random_tests(TCase *tcase)
{
    tcase_add_test(tcase, random_conditions_are_found_again);
}
