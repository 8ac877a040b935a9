/* The report by default: one screen, plain words, lines to paste that run. */
#include <stdlib.h>
#include <string.h>

#include "reports/record/plain_rule.h"
#include "reports/record/program.h"
#include "reports/record/published.h"
#include "reports/terminal/terminal.h"
#include "reports/record/text.h"
#include "report_sample.h"

enum { MOST_LINES = 40 };

static char *brief_text(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    terminal_header(out, &result, false, false);
    terminal_report(out, &result, false, false);
    fclose(out);
    return text;
}

static void expect_text(const char *text, const char *expected)
{
    ck_assert_msg(strstr(text, expected) != NULL, "no \"%s\" in\n%.4000s", expected, text);
}

static void expect_without(const char *text, const char *unexpected)
{
    ck_assert_msg(strstr(text, unexpected) == NULL, "\"%s\" in\n%.4000s", unexpected, text);
}

static int count_lines(const char *text)
{
    int lines = 0;

    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

/* Every part that a run can have, and each verdict. */
START_TEST(a_report_is_one_screen_whatever_was_found)
{
    const enum element_verdict verdict = (enum element_verdict)(_i / 2);
    char *text;

    fill_full_result();
    result.published_judged = false;
    result.verdict = verdict;
    if (verdict != VERDICT_CHEATING && verdict != VERDICT_FORBIDDEN)
        result.finding_count = 0;
    if (_i % 2)
        result.diagnosis.kinds = 0;
    else
        result.diagnosis.content.present = false;
    if (verdict == VERDICT_GENERAL || verdict == VERDICT_INCONCLUSIVE)
        result.diagnosis.present = false;
    result.partial = verdict == VERDICT_INCONCLUSIVE;
    if (verdict != VERDICT_FORBIDDEN)
        result.forbid[0] = result.remarks[0] = '\0';
    result.no_sandbox[0] = result.without[0] = '\0';
    text = brief_text();
    expect_text(text, verdict_name(verdict));
    ck_assert_msg(count_lines(text) <= MOST_LINES, "%d lines\n%s", count_lines(text), text);
    expect_text(text, "\nNext:\n");
    expect_without(text, "commitment");
    expect_without(text, "pairs covered");
    free(text);
}
END_TEST

/* Ends at a line to paste, a heading or a blank line. No text is longer than the screen. */
START_TEST(a_report_says_when_it_fails_in_plain_words_and_how_to_see_it)
{
    char *text, *rest, *line;

    fill_full_result();
    result.published_judged = false;
    text = brief_text();
    expect_text(text, "  It fails when cols % 4096 != 0. Confirmed on fresh runs: 37 of 37 inside the\n"
                      "  rule fail, 27 of 27 outside it pass.\n");
    expect_text(text, "  smallest    rows=1 cols=1 input=normal seed=1\n");
    expect_text(text,
                "  unseen check ./softmax bad/tile4096.c 'rows=1 cols=1 input=normal seed=1' --device host "
                "--contract 'my space'\n");
    expect_text(text, "  7 x raised ValueError (line 12): when rows % 3 == 0 (8 of 8 fresh runs inside\n");
    expect_text(text, "  not judged  1: needs 12 GB, the machine has 4 GB (whose doing: this machine)\n");
    expect_text(text, "  unseen pin ./softmax 'rows=1 cols=1 input=normal seed=1' --contract 'my space'\n");
    rest = text;
    while ((line = strsep(&rest, "\n")) != NULL)
        ck_assert_msg(strlen(line) <= TEXT_WIDTH || strncmp(line, "  unseen ", 9) == 0, "%s", line);
    free(text);
}
END_TEST

START_TEST(the_first_branch_that_was_not_taken_is_named)
{
    char *text;

    fill_full_result();
    text = brief_text();
    expect_without(text, "coverage"); /* beside a failure */
    free(text);
    result.diagnosis.present = false;
    result.finding_count = 0;
    result.forbid[0] = '\0';
    text = brief_text();
    expect_text(text, "  coverage    51 of 53 branches of its code reached; never taken: a.c:118 \"if\n"
                      "              (cols > 1 << 24)\" to line 119, and 1 more (-v)\n");
    free(text);
    result.branches.taken = 53;
    result.branches.nevers = 0;
    text = brief_text();
    expect_text(text, "  coverage    53 of 53 branches of its code reached\n");
    free(text);
    result.branches.present = false;
    text = brief_text();
    expect_without(text, "coverage");
    free(text);
}
END_TEST

START_TEST(what_may_not_be_frozen_is_not_offered)
{
    char *text;

    fill_full_result();
    strcpy(result.diagnosis.minimal.line, "rows=1 cols=4096 input=normal seed=999");
    ck_assert_str_eq(results[0].line, "rows=1 cols=4096 input=normal seed=7");
    text = brief_text();
    expect_without(text, "unseen pin");
    free(text);
    strcpy(result.diagnosis.minimal.line, "rows=1 cols=1 input=normal seed=1");
    result.problem_word = "my/task.py";
    text = brief_text();
    expect_without(text, "unseen pin");
    free(text);
}
END_TEST

/* Fields: the verdict, and the owner of the fault that its screen must name. */
static const struct {
    enum element_verdict verdict;
    const char *words;
} advices[] = {
    {VERDICT_LIMITED, "returned nonzero there: its own choice"},
    {VERDICT_CHEATING, "This is the candidate's doing"},
    {VERDICT_FORBIDDEN, "out of --forbid"},
    {VERDICT_INCONCLUSIVE, "no word about the candidate"},
    {VERDICT_GENERAL, "--against baseline.json"},
};

START_TEST(each_verdict_says_whose_doing_it_is_and_what_to_do)
{
    char *text;

    result.verdict = advices[_i].verdict;
    text = brief_text();
    expect_text(text, advices[_i].words);
    free(text);
}
END_TEST

START_TEST(a_run_without_a_diagnosis_offers_to_shrink)
{
    char *text = brief_text();

    expect_text(text, "  unseen check softmax bad/tile4096.c 'rows=4 cols=4099 input=normal seed=91'\n"
                      "  unseen shrink softmax bad/tile4096.c 'rows=4 cols=4099 input=normal seed=91'\n");
    free(text);
}
END_TEST

START_TEST(a_score_that_is_none_has_its_reason_beside_it)
{
    char *text;

    result.scores.present = true;
    result.scores.seen[SCORE_OURS] = (struct score_value){SCORE_INCONCLUSIVE, 0, "a neighbour was busy"};
    result.scores.unseen[SCORE_OURS] = result.scores.seen[SCORE_OURS];
    text = brief_text();
    expect_text(text, "  no score    a neighbour was busy\n");
    free(text);
}
END_TEST

START_TEST(commands_begin_with_the_program_as_it_was_called)
{
    static char *const called[] = {"../my build/unseen", "verify", "softmax", "it's.c",
                                   "--effort",           "quick",  NULL};
    static char *const plain[] = {"unseen", NULL};
    char *text;

    program_remember(called);
    ck_assert_str_eq(program_words(), "verify softmax 'it'\\''s.c' --effort quick");
    strcpy(result.command_line, program_words());
    text = brief_text();
    expect_text(text, "\n  '../my build/unseen' check softmax ");
    expect_text(text,
                "\n  '../my build/unseen' verify softmax 'it'\\''s.c' --effort quick --seed 9007199254740991 "
                "--html unseen.html\n");
    free(text);
    program_remember(plain);
    ck_assert_str_eq(program_words(), "");
    text = brief_text();
    expect_text(text, "\n  unseen check softmax ");
    free(text);
}
END_TEST

START_TEST(hints_of_errors_begin_commands_with_the_program)
{
    static char *const called[] = {"build/unseen", NULL};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    program_remember(called);
    program_print_error(out,
                        "unseen verify: an unseen set\n---> `unseen list` says it; an unseen set, or unseen "
                        "verify --help; unseen newer");
    fclose(out);
    ck_assert_str_eq(text,
                     "unseen verify: an unseen set\n---> `build/unseen list` says it; an unseen set, or "
                     "build/unseen verify --help; unseen newer");
    free(text);
}
END_TEST

static const struct {
    struct rule rule;
    const char *words;
} rules[] = {
    {{.present = true,
      .kind = RULE_NECESSARY,
      .text = "k > 8",
      .fails_inside = 3,
      .inside = 4,
      .outside = 9,
      .explained = 5,
      .failures = 5},
     "It crashes only when k > 8: 5 of 5 failures lie there, and none of 9 fresh runs elsewhere fails. It "
     "does not "
     "fail always there: 1 of 4 fresh runs pass."},
    {{.present = true,
      .kind = RULE_NECESSARY,
      .text = "k > 8",
      .fails_inside = 4,
      .inside = 4,
      .outside = 9,
      .explained = 99,
      .failures = 100},
     "It crashes nearly only when k > 8: 99 of 100 failures lie there, and none of 9 fresh runs elsewhere "
     "fails. There 4 of 4 fresh runs fail."},
    {{.present = true,
      .kind = RULE_PARTIAL,
      .text = "k > 8",
      .fails_inside = 4,
      .inside = 4,
      .explained = 5,
      .failures = 6},
     "It always crashes when k > 8 (4 of 4 fresh runs), but 1 other failure lies outside this rule."},
    {{.present = true, .always = true, .fails_inside = 4, .inside = 4},
     "It crashes on every configuration: so did 4 of 4 fresh runs."},
    {{.reason = "no rule fits"}, "No rule was found for when it fails: no rule fits."},
};

START_TEST(a_rule_is_a_sentence_of_its_kind)
{
    const struct result crashes = {
        .diagnosis = {.present = true, .minimal.outcome = OUTCOME_CRASH, .rule = rules[_i].rule}};
    char text[SUMMARY_SIZE];

    plain_rule(text, &crashes);
    ck_assert_str_eq(text, rules[_i].words);
}
END_TEST

START_TEST(a_rule_for_several_outcomes_names_none)
{
    struct config_result one[2] = {{.outcome = OUTCOME_CRASH}, {.outcome = OUTCOME_REFUSED}};
    struct result mixed = {
        .diagnosis = {.present = true, .minimal.outcome = OUTCOME_CRASH}, .results = one, .result_count = 2};
    char text[SUMMARY_SIZE];

    mixed.diagnosis.rule = (struct rule){.present = true, .always = true, .fails_inside = 4, .inside = 4};
    plain_rule(text, &mixed);
    ck_assert_str_eq(text, "It crashes on every configuration: so did 4 of 4 fresh runs.");
    one[1].outcome = OUTCOME_TIMEOUT;
    plain_rule(text, &mixed);
    ck_assert_str_eq(text, "It fails on every configuration: so did 4 of 4 fresh runs.");
}
END_TEST

TCase *brief_case(void)
{
    TCase *brief = tcase_create("brief");
    tcase_add_checked_fixture(brief, fill_result, NULL);
    tcase_add_loop_test(brief, a_report_is_one_screen_whatever_was_found, 0, 2 * VERDICT_COUNT);
    tcase_add_test(brief, a_report_says_when_it_fails_in_plain_words_and_how_to_see_it);
    tcase_add_test(brief, the_first_branch_that_was_not_taken_is_named);
    tcase_add_test(brief, what_may_not_be_frozen_is_not_offered);
    tcase_add_loop_test(brief, each_verdict_says_whose_doing_it_is_and_what_to_do, 0,
                        sizeof advices / sizeof *advices);
    tcase_add_test(brief, a_run_without_a_diagnosis_offers_to_shrink);
    tcase_add_test(brief, a_score_that_is_none_has_its_reason_beside_it);
    tcase_add_test(brief, commands_begin_with_the_program_as_it_was_called);
    tcase_add_test(brief, hints_of_errors_begin_commands_with_the_program);
    tcase_add_test(brief, a_rule_for_several_outcomes_names_none);
    tcase_add_loop_test(brief, a_rule_is_a_sentence_of_its_kind, 0, sizeof rules / sizeof *rules);
    return brief;
}
