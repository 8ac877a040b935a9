/* The report on a terminal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/record/published.h"
#include "reports/record/rule_text.h"
#include "reports/record/summary.h"
#include "reports/terminal/terminal.h"
#include "reports/record/text.h"
#include "report_sample.h"

static char *report_text(bool colour)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    terminal_header(out, &result, colour, true);
    for (int i = 0; i < result.result_count; i++)
        terminal_config(out, &results[i], colour);
    terminal_report(out, &result, colour, true);
    fclose(out);
    return text;
}

static void expect_text(const char *text, const char *expected)
{
    ck_assert_msg(strstr(text, expected) != NULL, "no \"%s\" in\n%.3000s", expected, text);
}

START_TEST(report_says_the_verdict_the_counts_and_how_to_see_a_failure_again)
{
    static const char *const words[] = {"--device", "host", NULL};
    char *text;

    result.check_options = words;
    text = report_text(false);
    expect_text(text, "specialized: it passes 4 of 4 configurations that its author was given, but\n");
    expect_text(text, "  unseen check softmax bad/tile4096.c 'rows=4 cols=4099 input=normal seed=91' "
                      "--device host\n");
    expect_text(text, "y[3,4098] got nan");
    expect_text(text, "(MPFR witness)");
    expect_text(text, "wrong: 1 configuration\n");
    expect_text(text, "killed by signal 11");
    expect_text(text, "1: needs 12 GB, the machine has 4 GB");
    expect_text(text, "unseen configurations reach 50% of the speed of seen ones");
    expect_text(text, "4 seen and 36 unseen configurations");
    expect_text(text, "witnessing");
    expect_text(text, "explaining");
    expect_text(text, "not told: wrong results say nothing of it; the problem admits fp32");
    free(text);
}
END_TEST

/* A verdict needs a reason beside it. */
START_TEST(a_score_that_is_open_says_why)
{
    char *text;
    result.scores.present = true;
    result.scores.unseen[SCORE_OURS] =
        (struct score_value){SCORE_INCONCLUSIVE, 0, "3 of 4 times were disturbed"};
    text = report_text(false);
    expect_text(text, "unseen: 3 of 4 times were disturbed\n");
    free(text);
    result.scores.seen[SCORE_OURS] = result.scores.unseen[SCORE_OURS];
    text = report_text(false);
    expect_text(text, "both sets: 3 of 4 times were disturbed\n");
    free(text);
}
END_TEST

/* No candidate has seen the configurations that replace the seen set on a host: the sentence of each verdict
 * says so. */
START_TEST(configurations_that_stand_in_are_called_so)
{
    static const char stand[] =
        "configurations that stand in for the published ones (too large for the host)";
    static const char given[] = "configurations that its author was given";
    char text[SUMMARY_SIZE];
    for (int verdict = 0; verdict < 3; verdict++) { /* specialized, broken, general */
        for (int i = 0; i < result.result_count; i++)
            if (verdict == 2)
                results[i].outcome = OUTCOME_PASS;
        if (verdict == 1)
            results[0].outcome = OUTCOME_WRONG;
        for (int stands = 0; stands < 2; stands++) {
            result.seen_stands_in = stands;
            summary_verdict(text, &result);
            expect_text(text, stands ? stand : given);
            ck_assert_ptr_null(strstr(text, stands ? given : stand));
        }
        fill_result();
    }
}
END_TEST

START_TEST(report_is_plain_ascii_without_colour_whatever_the_candidate_says)
{
    char *text;

    strcpy(results[38].detail, "said \033[31mred\033[0m caf\xc3\xa9\a");
    strcpy(result.candidate_path, "my caf\xc3\xa9/it's.c");
    text = report_text(false);
    for (const char *c = text; *c != '\0'; c++)
        ck_assert_msg(*c == '\n' || (*c >= ' ' && *c <= '~'), "byte %d", *c);
    expect_text(text, "unseen check softmax $'my caf\\303\\251/it\\'s.c' 'rows=4");
    free(text);
    text = report_text(true);
    expect_text(text, "\033[1;31mspecialized\033[0m");
    free(text);
}
END_TEST

/* Lines to paste, or with a single word, may be longer. */
static bool is_copied(const char *line)
{
    static const char *const starts[] = {"  unseen check ", "  commitment ", "  candidate ", "  smallest "};

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(line, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

START_TEST(report_keeps_to_the_terminals_width_but_for_what_is_copied)
{
    static const int widths[] = {40, 57, 80, 132};
    char *text, *rest, *line;
    int copied = 0;

    fill_full_result();
    result.finding = &(struct finding){.kind = FINDING_CEILING};
    result.finding_count = 1;
    memset(result.finding->evidence, 'x', 319);
    for (int i = 9; i < 319; i += 10)
        result.finding->evidence[i] = ' ';
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        FILE *out = open_memstream(&text, &(size_t){0});

        text_set_width(widths[i]);
        terminal_header(out, &result, false, true);
        terminal_report(out, &result, false, true);
        fclose(out);
        rest = text;
        while ((line = strsep(&rest, "\n")) != NULL) {
            ck_assert_msg(is_copied(line) || (int)strlen(line) <= widths[i], "%d: %s", widths[i], line);
            copied +=
                strstr(line, "unseen check ./softmax bad/tile4096.c 'rows=1 cols=1 input=normal seed=1' "
                             "--device host --contract 'my space'") != NULL;
        }
        free(text);
    }
    text_set_width(TEXT_WIDTH);
    ck_assert_int_eq(copied, 4); /* whole, at any width */
}
END_TEST

START_TEST(the_width_is_columns_or_the_terminals_or_80)
{
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    unsetenv("COLUMNS");
    ck_assert_int_eq(text_columns(ends[1]), 80);
    setenv("COLUMNS", "57", 1);
    ck_assert_int_eq(text_columns(ends[1]), 57);
    setenv("COLUMNS", "none", 1);
    ck_assert_int_eq(text_columns(ends[1]), 80);
    setenv("COLUMNS", "0", 1);
    ck_assert_int_eq(text_columns(ends[1]), 80);
    text_set_width(1);
    ck_assert_int_eq(text_width(), TEXT_LEAST_WIDTH);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

/* On a terminal of this width a line that reaches the last column would wrap, and stay there. */
START_TEST(progress_leaves_no_trail_on_a_narrow_terminal)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    text_set_width(40);
    terminal_progress(out, 1234, 1500, 321, 5990);
    terminal_status(out, "searching for the rule and the smallest failure, which is longer than this");
    terminal_progress_clear(out);
    fclose(out);
    text_set_width(TEXT_WIDTH);
    for (const char *c = text; *c != '\0'; c += *c == '\r') {
        const size_t length = strcspn(c, "\r");

        ck_assert_uint_lt(length, 40);
        c += length;
    }
    expect_text(text, "1234/1500, 321 failures, about 100 min");
    free(text);
}
END_TEST

START_TEST(an_interval_that_tells_nothing_is_said_in_words)
{
    char text[SUMMARY_SIZE];

    ck_assert(summary_drop(text, &result)); /* 8.3 points, from -40.5 to 21.8 */
    ck_assert_str_eq(
        text, "the pass rate is 8.3 points lower on unseen than on seen configurations (too few failures to "
              "tell); a configuration that was not judged counts as not passing");
    result.drop = (struct interval){true, 74.3, 27.9, 85.8};
    ck_assert(summary_drop(text, &result));
    ck_assert_ptr_nonnull(strstr(text, "(95%: 27.9 to 85.8);"));
    ck_assert(summary_retention(text, &result)); /* from one time */
    ck_assert_str_eq(text,
                     "unseen configurations reach 50% of the speed of seen ones (too few times to tell)");
    result.drop.present = false;
    ck_assert(!summary_drop(text, &result));
}
END_TEST

START_TEST(an_interval_of_throughput_keeps_to_its_column)
{
    result.seen.fraction_low = 1.57e-26, result.seen.fraction_high = 1.76e18; /* from too few times */
    result.unseen.fraction_low = 0.0000165123, result.unseen.fraction_high = 0.000155123;
    char *const text = report_text(false);
    expect_text(text, "  0.0017..0.016%\n");
    expect_text(text, "  too few times ");
    free(text);
}
END_TEST

START_TEST(report_shows_at_most_six_failures_and_one_of_every_outcome_first)
{
    int shown = 0;
    char *text;

    for (int i = 4; i < 36; i++)
        results[i].outcome = OUTCOME_UNWRITTEN;
    text = report_text(false);
    for (const char *c = text; (c = strstr(c, "unseen check ")) != NULL; c++)
        shown++;
    ck_assert_int_eq(shown, 6);
    expect_text(text, "unwritten: 32 configurations (4 shown)");
    expect_text(text, "crash: 1 configuration\n");
    free(text);
}
END_TEST

START_TEST(report_names_a_silent_downgrade)
{
    char *text;

    result.fits = "tensor-core 16-bit";
    result.unexplained = false;
    result.downgrade = true;
    text = report_text(false);
    expect_text(text, "SILENT DOWNGRADE: the candidate computes like tensor-core 16-bit");
    ck_assert_ptr_null(strstr(text, "allow_tf32"));
    free(text);
    result.fits = "tf32";
    result.language = "cuda";
    text = report_text(false);
    ck_assert_ptr_null(strstr(text, "allow_tf32")); /* PyTorch's switch is no concern of CUDA C */
    free(text);
    result.language = "python";
    text = report_text(false);
    expect_text(text, "torch.backends.cudnn.allow_tf32 = False");
    free(text);
}
END_TEST

START_TEST(report_prints_the_published_check_beside_ours)
{
    char *text;

    for (int i = 0; i < 40; i++)
        results[i].published_judged = results[i].published_pass = true;
    result.published_judged = true;
    result.published_verdict = VERDICT_GENERAL;
    text = report_text(false);
    expect_text(text, "published   general");
    expect_text(text, "passes 1 of the 2");
    expect_text(text, "specialized: it passes");
    free(text);
    result.published_tolerance = true;
    ck_assert_int_eq(result_verdict(&result), VERDICT_GENERAL);
    text = report_text(false);
    expect_text(text, "general: it works");
    expect_text(text, "our check   specialized");
    free(text);
    result.verdict = VERDICT_CHEATING;
    ck_assert_int_eq(result_verdict(&result), VERDICT_CHEATING);
    result.verdict = VERDICT_FORBIDDEN; /* nor does a published check know the bans of a task */
    ck_assert_int_eq(result_verdict(&result), VERDICT_FORBIDDEN);
    text = report_text(false);
    expect_text(text, "forbidden: it uses a library that --forbid names");
    free(text);
}
END_TEST

START_TEST(an_element_shows_the_difference_even_in_the_last_digit)
{
    const struct worst worst = {.tensor = "y", .index = 7, .got = 0.1, .want = nextafter(0.1, 1)};
    char text[256];

    text_element(text, sizeof text, &worst);
    ck_assert_str_eq(text, "y[7] got 0.10000000000000001 want 0.10000000000000002 allowed 0");
}
END_TEST

START_TEST(progress_rewrites_one_line_and_clears_it)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    terminal_progress(out, 12, 52, 1, 40);
    terminal_progress(out, 13, 52, 1, -1);
    terminal_progress_clear(out);
    fclose(out);
    ck_assert_int_eq(strncmp(text, "\r12/52 configurations, 1 failure, about 40 s left ", 50), 0);
    expect_text(text, "\r13/52 configurations, 1 failure  ");
    ck_assert_ptr_null(strchr(text, '\n'));
    ck_assert_int_eq(text[size - 1], '\r');
    free(text);
}
END_TEST

/* A rule over speed is sure on as many sides as it claims. */
START_TEST(a_rule_over_speed_says_on_which_sides_it_is_sure)
{
    static const struct {
        enum rule_kind kind;
        const char *words;
    } said[] = {
        {RULE_TWO_SIDED, "slower by 1.31 whenever cols % 4 != 0 (7/8 confirmed; right on 9/9 others)"},
        {RULE_NECESSARY,
         "slower by 1.31 only where cols % 4 != 0 (5 of 5 that are; none of 9 fresh runs elsewhere is); "
         "where it holds, 1 of 8 fresh runs are not"},
        {RULE_PARTIAL, "slower by 1.31 always when cols % 4 != 0 (7/8 confirmed); 1 other unexplained"}};
    char text[RULE_TEXT_SIZE];
    const bool partial = said[_i].kind == RULE_PARTIAL;
    struct rule rule = {.present = true,
                        .kind = said[_i].kind,
                        .text = "cols % 4 != 0",
                        .fails_inside = 7,
                        .inside = 8,
                        .passes_outside = 9,
                        .outside = 9,
                        .explained = 5,
                        .failures = partial ? 6 : 5};
    rule_text_slower(text, &rule, 1.312);
    ck_assert_str_eq(text, said[_i].words);
}
END_TEST

/* A configuration that did not run is no evidence for the rule, nor against it. */
START_TEST(a_necessary_rule_says_whether_it_was_run_where_it_holds)
{
    static const char *const words[] = {"; no fresh run was made where it holds",
                                        "; where it holds, 3 of 4 fresh runs pass"};
    char text[RULE_TEXT_SIZE], expected[RULE_TEXT_SIZE];
    struct diagnosis d = {.present = true,
                          .minimal.outcome = OUTCOME_WRONG,
                          .rule = {.present = true,
                                   .kind = RULE_NECESSARY,
                                   .text = "k > 8",
                                   .fails_inside = _i,
                                   .inside = 4 * _i,
                                   .outside = 9,
                                   .explained = 5,
                                   .failures = 5}};
    rule_text(text, &d);
    snprintf(expected, sizeof expected,
             "every failure has k > 8 (5 of 5; none of 9 fresh runs elsewhere fails)%s", words[_i]);
    ck_assert_str_eq(text, expected);
}
END_TEST

/* Beside a rule, and beside the reason why there is none. */
START_TEST(a_limit_of_the_device_and_the_calls_that_fail_are_said_beside_the_rule)
{
    char text[RULE_TEXT_SIZE];
    struct diagnosis d = {.present = true,
                          .minimal.outcome = OUTCOME_CRASH,
                          .rule = {.present = true,
                                   .text = "cols > 12288",
                                   .fails_inside = 8,
                                   .inside = 8,
                                   .passes_outside = 9,
                                   .outside = 9,
                                   .limit = "cols = 12288 of 4 bytes each are 48 kbyte"}};
    rule_text(text, &d);
    ck_assert_str_eq(text,
                     "crash whenever cols > 12288 (8/8 confirmed; right on 9/9 others); cols = 12288 of 4 "
                     "bytes each are 48 kbyte");
    d.rule = (struct rule){.reason = "no rule fits"};
    snprintf(d.calls, sizeof d.calls, "43 with the same contents at other addresses");
    rule_text(text, &d);
    ck_assert_str_eq(text, "no rule: no rule fits; no first call fails, but later ones do: 43 with the same "
                           "contents at other addresses");
}
END_TEST

START_TEST(a_kind_of_failures_is_said_with_its_rule_or_why_it_has_none)
{
    static const char *const words[] = {
        "raised ValueError (line 12) whenever rows % 3 == 0 (8/8 confirmed; right on 9/9 others); 7 failures",
        "overrun: no rule: none fits; 3 failures"};
    const struct result_kind kind[] = {
        {.outcome = OUTCOME_CRASH,
         .words = "raised ValueError (line 12)",
         .count = 7,
         .rule = {.present = true,
                  .text = "rows % 3 == 0",
                  .fails_inside = 8,
                  .inside = 8,
                  .passes_outside = 9,
                  .outside = 9}},
        {.outcome = OUTCOME_OVERRUN, .count = 3, .rule = {.reason = "none fits"}}};
    char text[RULE_TEXT_SIZE];
    for (int i = 0; i < 2; i++) {
        rule_text_kind(text, &kind[i]);
        ck_assert_str_eq(text, words[i]);
    }
}
END_TEST

/* Nothing fails. Skipped configurations are no drop, and no number stands alone that contradicts
 * `general`. */
START_TEST(a_drop_of_skipped_configurations_alone_is_none)
{
    char text[SUMMARY_SIZE];

    result.unseen.outcome[OUTCOME_PASS] = 35;
    result.unseen.outcome[OUTCOME_WRONG] = result.unseen.outcome[OUTCOME_CRASH] = 0;
    result.drop = (struct interval){true, 2.8, -40, 20};
    ck_assert(summary_drop(text, &result));
    ck_assert_str_eq(text,
                     "none: no configuration that was judged fails; 1 could not be judged (with them counted "
                     "as failing it would be 2.8 points)");
    result.unseen.outcome[OUTCOME_PASS] = 36;
    result.unseen.outcome[OUTCOME_SKIPPED] = 0;
    ck_assert(summary_drop(text, &result));
    ck_assert_str_eq(text, "none: no configuration of either set fails");
}
END_TEST

TCase *terminal_case(void)
{
    TCase *terminal = tcase_create("terminal");
    tcase_add_checked_fixture(terminal, fill_result, NULL);
    tcase_add_loop_test(terminal, a_rule_over_speed_says_on_which_sides_it_is_sure, 0, 3);
    tcase_add_loop_test(terminal, a_necessary_rule_says_whether_it_was_run_where_it_holds, 0, 2);
    tcase_add_test(terminal, a_limit_of_the_device_and_the_calls_that_fail_are_said_beside_the_rule);
    tcase_add_test(terminal, a_kind_of_failures_is_said_with_its_rule_or_why_it_has_none);
    tcase_add_test(terminal, a_score_that_is_open_says_why);
    tcase_add_test(terminal, report_says_the_verdict_the_counts_and_how_to_see_a_failure_again);
    tcase_add_test(terminal, configurations_that_stand_in_are_called_so);
    tcase_add_test(terminal, report_is_plain_ascii_without_colour_whatever_the_candidate_says);
    tcase_add_test(terminal, report_keeps_to_the_terminals_width_but_for_what_is_copied);
    tcase_add_test(terminal, the_width_is_columns_or_the_terminals_or_80);
    tcase_add_test(terminal, progress_leaves_no_trail_on_a_narrow_terminal);
    tcase_add_test(terminal, an_interval_of_throughput_keeps_to_its_column);
    tcase_add_test(terminal, an_interval_that_tells_nothing_is_said_in_words);
    tcase_add_test(terminal, a_drop_of_skipped_configurations_alone_is_none);
    tcase_add_test(terminal, report_shows_at_most_six_failures_and_one_of_every_outcome_first);
    tcase_add_test(terminal, report_names_a_silent_downgrade);
    tcase_add_test(terminal, report_prints_the_published_check_beside_ours);
    tcase_add_test(terminal, an_element_shows_the_difference_even_in_the_last_digit);
    tcase_add_test(terminal, progress_rewrites_one_line_and_clears_it);
    return terminal;
}
