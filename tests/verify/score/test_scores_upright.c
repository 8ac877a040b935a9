/* No setting ranks a candidate that passes all it ran below one that fails some. Scores that are unavailable
 * are unavailable for all alike. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scores_record.h"
#include "suites.h"
#include "verify/score/score.h"
#include "verify/score/scores.h"

/* --- settings --- */

enum { SEEN_MOST = 2, PLAIN_MOST = 12, SCOUTS_MOST = 4, DIRECTED_MOST = 2 };
enum { ALL_MOST = SEEN_MOST + PLAIN_MOST + SCOUTS_MOST + DIRECTED_MOST };
enum { TURNS = 31 }; /* the number of parts in which settings are tried */
enum stop { STOP_NEVER, STOP_FAIL_FAST, STOP_PATIENCE, STOP_BUDGET, STOP_INTERRUPT, STOPS };
enum base { BASE_NONE, BASE_PASSES, BASE_FAILS_ONCE, BASE_FAILS, BASES };
enum clock { CLOCK_GOOD, CLOCK_DISTURBED, CLOCK_WIDE, CLOCK_ABSENT, CLOCKS };

struct setting {
    int seen, plain, scouts, directed, unjudged;
    bool no_timing, no_peaks, incomparable;
    enum stop stop;
    enum base base;
    enum clock clock;
    const struct reward_table *table;
};

/* A candidate: which configurations fail, how, and how fast it is (1: at the ceiling). */
struct candidate {
    bool fails[ALL_MOST];
    enum outcome how;
    double fraction;
};

static struct config_result list[ALL_MOST];
static struct result it;

static int total_of(const struct setting *s)
{
    return s->seen + s->plain + s->scouts + s->directed;
}

static void take_time(const struct setting *s, double fraction, struct config_result *config)
{
    const double ms = 1 / fraction, ratio = ms / 2;
    const double open = s->clock == CLOCK_WIDE ? 0.5 : 0;
    if (s->no_timing || s->clock == CLOCK_ABSENT || config->scout || config->directed ||
        config->outcome != OUTCOME_PASS)
        return;
    config->timing = (struct timing){.present = true,
                                     .disturbed = s->clock == CLOCK_DISTURBED,
                                     .median_ms = ms,
                                     .low_ms = ms * exp(-open),
                                     .high_ms = ms * exp(open),
                                     .samples = 10,
                                     .fraction = fraction,
                                     .attainable_ms = 1};
    if (s->base == BASE_NONE || config->baseline_outcome != OUTCOME_PASS)
        return;
    config->timing.baseline_ms = 2;
    config->timing.baseline_ratio = (struct interval){true, ratio, ratio * exp(-open), ratio * exp(open)};
}

static void judge_baseline(const struct setting *s, int i, struct config_result *config)
{
    config->baseline_judged = s->base != BASE_NONE;
    config->baseline_outcome =
        s->base == BASE_FAILS || (s->base == BASE_FAILS_ONCE && i == s->seen + s->plain - 1) ? OUTCOME_WRONG
                                                                                             : OUTCOME_PASS;
}

static void skip(struct config_result *config, enum cause cause)
{
    config->outcome = OUTCOME_SKIPPED;
    config->reason.cause = cause;
}

/* A failure may end the run there, and nothing is timed then. A budget or an interrupt always ends it. */
static void end_early(const struct setting *s, int count)
{
    int failed = count;
    for (int i = count - 1; i >= 0; i--)
        if (outcome_is_rejected(list[i].outcome))
            failed = i;
    for (int i = failed + 1; i < count && (s->stop == STOP_FAIL_FAST || s->stop == STOP_PATIENCE); i++)
        skip(&list[i], s->stop == STOP_FAIL_FAST ? CAUSE_FAIL_FAST : CAUSE_PATIENCE);
    for (int i = 0; i < count && failed < count - 1 && s->stop <= STOP_PATIENCE && s->stop != STOP_NEVER; i++)
        list[i].timing.present = false;
    it.partial = failed < count - 1 && s->stop == STOP_FAIL_FAST;
    if (s->stop == STOP_BUDGET && count > 0) {
        skip(&list[count - 1], CAUSE_BUDGET);
        it.partial = true;
    }
    if (s->stop == STOP_INTERRUPT && count > 0) {
        it.result_count--;
        it.partial = true;
    }
}

static void run(const struct setting *s, const struct candidate *candidate)
{
    const int count = total_of(s);
    memset(list, 0, sizeof list);
    it = (struct result){.results = list,
                         .result_count = count,
                         .planned = count,
                         .planned_seen = s->seen,
                         .planned_scouts = s->scouts,
                         .planned_directed = s->directed,
                         .no_timing = s->no_timing,
                         .peaks = {.bandwidth_gbps = s->no_peaks ? 0 : 1000,
                                   .tflops = s->no_peaks ? 0 : 1,
                                   .incomparable = s->incomparable},
                         .baseline = {.path = ""}};
    if (s->base != BASE_NONE)
        strcpy(it.baseline.path, "baseline.c");
    for (int i = 0; i < count; i++) {
        list[i].unseen = i >= s->seen;
        list[i].directed = i >= s->seen + s->plain + s->scouts;
        list[i].scout = i >= s->seen + s->plain && !list[i].directed;
        list[i].flops = 1e9;
        list[i].bytes = 1e9;
        judge_baseline(s, i, &list[i]);
        if (candidate->fails[i])
            list[i].outcome = candidate->how;
        else if (i >= s->seen && i < s->seen + s->unjudged)
            skip(&list[i], CAUSE_NO_REFERENCE);
        take_time(s, candidate->fraction, &list[i]);
    }
    end_early(s, count);
    score_set(&it);
    it.verdict = verdict_decide(&it);
    scores_fill(&it, s->table);
}

static struct score_value reward_of(const struct setting *s, const struct candidate *candidate, bool unseen,
                                    enum score_name name)
{
    run(s, candidate);
    return scores_reward(&it, unseen, name, s->table);
}

/* --- the property --- */

static long compared, numbers;

static const char *in_words(const struct setting *s, const struct candidate *wrong, bool unseen,
                            enum score_name name)
{
    static char text[400];
    int fails = 0;
    for (int i = 0; i < ALL_MOST; i++)
        fails += wrong->fails[i];
    snprintf(text, sizeof text,
             "%s of the %s set: %d seen, %d plain, %d scouts, %d directed, %d unjudged, no_timing %d, "
             "no_peaks %d, "
             "incomparable %d, "
             "stop %d, baseline %d, clock %d, table %d; %d fail by %s, the first is %d",
             score_traits(name)->name, unseen ? "unseen" : "seen", s->seen, s->plain, s->scouts, s->directed,
             s->unjudged, s->no_timing, s->no_peaks, s->incomparable, s->stop, s->base, s->clock,
             s->table != NULL, fails, outcome_name(wrong->how), wrong->fails[0]);
    return text;
}

/* All rewards of one run. */
struct rewards {
    struct score_value of[2][SCORE_NAMES];
};

static void reward_all(const struct setting *s, const struct candidate *candidate, struct rewards *rewards)
{
    run(s, candidate);
    for (int i = 0; i < 2 * SCORE_NAMES; i++)
        rewards->of[i % 2][i / 2] = scores_reward(&it, i % 2, (enum score_name)(i / 2), s->table);
}

/* `would`: the right candidate's score where the machine and the judge leave nothing open. */
static void compare(const struct setting *s, const struct candidate *wrong, int which,
                    const struct score_value *a, const struct score_value *b, const struct score_value *would)
{
    const bool unseen = which % 2;
    const enum score_name name = (enum score_name)(which / 2);
    compared++;
    ck_assert_msg((a->state == SCORE_NONE) == (b->state == SCORE_NONE), "%s: '%s' and '%s'",
                  in_words(s, wrong, unseen, name), a->reason, b->reason);
    ck_assert_msg(a->state != SCORE_VALUE || b->state == SCORE_VALUE, "%s: right %g, wrong '%s'",
                  in_words(s, wrong, unseen, name), a->value, b->reason);
    if (b->state != SCORE_VALUE)
        return;
    numbers++;
    if (would->state == SCORE_NONE) { /* the baseline fails where the run was cut off */
        ck_assert_msg(s->stop == STOP_INTERRUPT && b->value <= 0, "%s", in_words(s, wrong, unseen, name));
        return;
    }
    ck_assert_msg(would->state == SCORE_VALUE, "%s: '%s'", in_words(s, wrong, unseen, name), would->reason);
    ck_assert_msg(would->value >= b->value, "%s: right %g, wrong %g ('%s')", in_words(s, wrong, unseen, name),
                  would->value, b->value, b->reason);
    ck_assert_msg(a->state != SCORE_VALUE || a->value >= b->value, "%s: right %g, wrong %g ('%s')",
                  in_words(s, wrong, unseen, name), a->value, b->value, b->reason);
}

/* `right` passes all it ran, at a millionth of the ceiling; `wrong` is at the ceiling where it passes. */
static void compare_all(const struct setting *s, const struct candidate *wrong)
{
    static struct rewards a, b, would;
    const struct candidate right = {.fraction = 1e-6};
    struct setting quiet = *s;
    quiet.clock = CLOCK_GOOD;
    quiet.incomparable = false;
    quiet.unjudged = 0;
    quiet.stop = s->stop < STOP_BUDGET ? s->stop : STOP_NEVER;
    reward_all(s, &right, &a);
    reward_all(s, wrong, &b);
    reward_all(&quiet, &right, &would);
    for (int i = 0; i < 2 * SCORE_NAMES; i++)
        compare(s, wrong, i, &a.of[i % 2][i / 2], &b.of[i % 2][i / 2], &would.of[i % 2][i / 2]);
}

/* The first configuration of the seen set, of the unseen one, of the scouts; the last; every other one;
 * all. */
static void try_candidates(const struct setting *s)
{
    static const enum outcome ways[] = {OUTCOME_WRONG, OUTCOME_REFUSED, OUTCOME_TIMEOUT, OUTCOME_CRASH};
    const int count = total_of(s),
              first[] = {0, s->seen, s->seen + s->plain, count - 1}; /* the last may be a directed one */
    for (size_t k = 0; k < 6 && count > 0; k++) {
        struct candidate wrong = {.how = ways[k % 4], .fraction = 1};
        if (k < 4 && first[k] >= count)
            continue;
        if (k < 4)
            wrong.fails[first[k]] = true;
        for (int i = 0; i < count && k >= 4; i += k == 4 ? 2 : 1)
            wrong.fails[i] = true;
        compare_all(s, &wrong);
    }
}

static const struct reward_table plain_table = {
    .offset = 1, .value = {0, -1, -2, -3, -1, -1, -2, -5, -4, -3, -2, -9, -8, -9, -7}};
static const struct reward_table dense = {
    .offset = -1,
    .factor = 1,
    .quantity = REWARD_SPEEDUP,
    .value = {0, -2, -2, -3, -4, -4, -2, -3, -7, -6, -6, -5, -4, -7, -6}};
static const struct reward_table logarithm = {
    .factor = 1, .quantity = REWARD_LOG2_SPEEDUP, .over = REWARD_MEDIAN};
static const struct reward_table steps = {
    .offset = 0.5, .step = {{1, 2}, {1.5, 4}}, .steps = 2, .over = REWARD_MEAN};
static const struct reward_table fraction = {.factor = 8, .quantity = REWARD_FRACTION, .over = REWARD_LEAST};
static const struct reward_table *const tables[] = {NULL,       &plain_table, &dense,
                                                    &logarithm, &steps,       &fraction};
enum { TABLES = sizeof tables / sizeof *tables };

/* One digit of a number that counts through all settings. */
static int part(long *number, int values)
{
    const int value = (int)(*number % values);
    *number /= values;
    return value;
}

START_TEST(no_setting_ranks_a_right_candidate_below_a_wrong_one)
{
    static const int plain[] = {0, 1, 3, PLAIN_MOST};
    const long all = 3L * 4 * 2 * 2 * 2 * 2 * 2 * STOPS * BASES * CLOCKS;
    compared = numbers = 0;
    for (long number = _i; number < all; number += TURNS) { /* each time others */
        long rest = number;
        struct setting s = {
            .seen = part(&rest, 3), .plain = plain[part(&rest, 4)], .scouts = part(&rest, 2) * SCOUTS_MOST};
        s.directed = (int)(number / TURNS / TABLES % 2) * DIRECTED_MOST;
        s.no_timing = part(&rest, 2);
        s.no_peaks = part(&rest, 2);
        s.incomparable = part(&rest, 2);
        s.unjudged = part(&rest, 2) && s.plain == PLAIN_MOST ? 1 : 0;
        s.stop = (enum stop)part(&rest, STOPS);
        s.base = (enum base)part(&rest, BASES);
        s.clock = (enum clock)part(&rest, CLOCKS);
        s.table = tables[(number / TURNS) % TABLES];
        try_candidates(&s);
    }
    ck_assert_int_gt(compared, 10000);
    ck_assert_int_gt(numbers, 1000); /* missing numbers are not the reason why it holds */
}
END_TEST

/* --- single cases that once were ranked wrongly --- */

/* --unseen 0 --small 190: the right ones got `none`, and the wrong ones their share. */
START_TEST(scouts_alone_are_a_set)
{
    const struct setting s = {.seen = 1, .scouts = SCOUTS_MOST, .no_timing = true, .table = &plain_table};
    struct candidate candidate = {.fraction = 1};
    struct score_value reward = reward_of(&s, &candidate, true, SCORE_PASS_RATE);
    expect_score(&reward, 1);
    reward = reward_of(&s, &candidate, true, SCORE_TABLE);
    expect_score(&reward, 1);
    candidate = (struct candidate){.fails = {[2] = true}, .how = OUTCOME_WRONG, .fraction = 1};
    reward = reward_of(&s, &candidate, true, SCORE_PASS_RATE);
    expect_score(&reward, 0.75);
    reward = reward_of(&s, &candidate, true, SCORE_TABLE);
    expect_score(&reward, 0.5); /* (3 - 1)/4 */
}
END_TEST

/* No two candidates have equally many directed configurations. A number of them that pass changes no
 * score, and each that fails counts as one configuration more. */
START_TEST(directed_configurations_count_where_they_fail)
{
    struct setting s = {.seen = 1, .plain = 3, .no_timing = true};
    struct candidate candidate = {.fraction = 1};
    const struct score_value without = reward_of(&s, &candidate, true, SCORE_PASS_RATE);
    s.directed = 2;
    struct score_value reward = reward_of(&s, &candidate, true, SCORE_PASS_RATE);
    ck_assert_str_eq(reward.reason, without.reason);
    expect_score(&reward, 1);
    candidate = (struct candidate){.fails = {[5] = true}, .how = OUTCOME_WRONG, .fraction = 1};
    reward = reward_of(&s, &candidate, true, SCORE_PASS_RATE);
    expect_score(&reward, 0.75); /* three pass, and one more fails */
    ck_assert_int_eq(it.verdict, VERDICT_SPECIALIZED);
    ck_assert_double_eq(it.drop.value, 0); /* the drop compares the sets without them */
    ck_assert_int_eq(it.unseen.configs, 3);
    ck_assert_int_eq(it.directed.configs, 2);
    ck_assert_int_eq(it.directed.outcome[OUTCOME_WRONG], 1);
}
END_TEST

/* One of 12 has no right answer: a candidate that passes the others passes all that can be judged. One of 3
 * is too many. */
START_TEST(what_the_judge_cannot_tell_counts_for_nobody)
{
    struct setting s = {.plain = PLAIN_MOST, .unjudged = 1, .no_timing = true};
    const struct candidate candidate = {.fraction = 1};
    struct score_value reward = reward_of(&s, &candidate, true, SCORE_PASS_RATE);
    expect_score(&reward, 1);
    ck_assert_str_eq(reward.reason, "11 of 11 unseen configurations pass; 1 more could not be judged");
    s.plain = 3;
    reward = reward_of(&s, &candidate, true, SCORE_PASS_RATE);
    ck_assert_int_eq(reward.state, SCORE_INCONCLUSIVE);
    ck_assert_str_eq(reward.reason, "1 of 3 unseen configurations could not be judged");
}
END_TEST

/* A kernel that leaves out the slow configurations: two at the ceiling of four, beside one that does all at a
 * millionth. */
START_TEST(speed_counts_where_all_pass)
{
    const struct setting s = {.plain = 3, .base = BASE_PASSES};
    const struct candidate fast = {.fails = {true}, .how = OUTCOME_REFUSED, .fraction = 1},
                           slow = {.fraction = 0.01};
    static const enum score_name names[] = {SCORE_OURS, SCORE_FAST_1, SCORE_SOL};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct score_value wrong = reward_of(&s, &fast, true, names[i]);
        expect_score(&wrong, 0);
        ck_assert_double_gt(it.scores.unseen[names[i]].value,
                            0.6); /* as published: JSON and --scores have it */
    }
    const struct score_value right = reward_of(&s, &slow, true, SCORE_OURS);
    expect_score(&right, 0.01);
}
END_TEST

START_TEST(a_candidate_that_cannot_be_loaded_is_worth_a_failure)
{
    const struct setting s = {.plain = 3, .no_timing = true, .table = &plain_table};
    const struct candidate candidate = {.fraction = 1};
    run(&s, &candidate);
    it.result_count = 0;
    it.partial = it.unloadable = true;
    scores_fill(&it, &plain_table);
    ck_assert_int_eq(verdict_decide_given_up(&it), VERDICT_BROKEN);
    struct score_value reward = scores_reward(&it, true, SCORE_PASS_RATE, &plain_table);
    expect_score(&reward, 0);
    reward = scores_reward(&it, true, SCORE_TABLE, &plain_table);
    expect_score(&reward, plain_table.value[REWARD_LOAD]);
    it.unloadable = false; /* the machine's doing */
    scores_fill(&it, &plain_table);
    ck_assert_int_eq(verdict_decide_given_up(&it), VERDICT_INCONCLUSIVE);
    ck_assert_int_eq(scores_reward(&it, true, SCORE_PASS_RATE, &plain_table).state, SCORE_INCONCLUSIVE);
}
END_TEST

void scores_upright_tests(TCase *tcase)
{
    tcase_add_loop_test(tcase, no_setting_ranks_a_right_candidate_below_a_wrong_one, 0, TURNS);
    tcase_add_test(tcase, scouts_alone_are_a_set);
    tcase_add_test(tcase, directed_configurations_count_where_they_fail);
    tcase_add_test(tcase, what_the_judge_cannot_tell_counts_for_nobody);
    tcase_add_test(tcase, speed_counts_where_all_pass);
    tcase_add_test(tcase, a_candidate_that_cannot_be_loaded_is_worth_a_failure);
}
