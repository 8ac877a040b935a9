/* Axes of the drawings of the page, and single words in Markdown. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/html/html.h"
#include "reports/html/markup.h"
#include "report_sample.h"

static void setup(void)
{
    fill_full_result();
    result.published_tolerance = false; /* our own judgement decides */
}

static char *page_text(void)
{
    const struct result *const results[] = {&result};
    static char *text;
    static size_t size;
    FILE *out = open_memstream(&text, &size);

    html_print(out, results, 1);
    fclose(out);
    return text;
}

static void expect_text(const char *text, const char *expected)
{
    ck_assert_msg(strstr(text, expected) != NULL, "no \"%s\" in\n%.2000s", expected, text);
}

/* Fields: a rule, and labels that its map must have, axes and values. */
static const struct {
    const char *rule, *first, *second;
} maps[] = {
    {"cols > 300 and most_rows % 8 != 0", ">cols</text>", ">most_rows % 8</text>"},
    {"input=wide", ">input</text>", ">wide</text>"},
    {"rows * cols > 300 or not pow2(rows)", ">rows * cols</text>", ">rows</text>"},
    {"cols in {5, 7}", ">cols</text>", ">rows</text>"},
    {"rows == cols", ">rows</text>", ">cols</text>"},
};

START_TEST(the_map_has_the_terms_of_the_rule_for_axes)
{
    char *page, *map;

    snprintf(result.diagnosis.rule.text, sizeof result.diagnosis.rule.text, "%s", maps[_i].rule);
    page = page_text();
    map = strstr(page, "<section class=\"map\">");
    *strstr(map, "</section>") = '\0';
    expect_text(map, maps[_i].first);
    expect_text(map, maps[_i].second);
    free(page);
}
END_TEST

/* An axis with the values 0 and 1 has these two labels and no logarithm; nothing of 40 is skipped, and no key
 * says so. */
START_TEST(two_values_have_a_place_each_and_the_legend_names_what_there_is)
{
    char *page, *map;

    for (int i = 0; i < 40; i++)
        results[i].config.value[0] = i % 2;
    results[39].outcome = OUTCOME_PASS;
    strcpy(result.diagnosis.rule.text, "rows == 1");
    page = page_text();
    map = strstr(page, "<section class=\"map\">");
    *strstr(map, "</figure>") = '\0';
    ck_assert_ptr_null(strstr(map, ">0.5</text>"));
    ck_assert_ptr_null(strstr(map, "skipped"));
    expect_text(map, ">0</text>");
    expect_text(map, ">1</text>");
    free(page);
}
END_TEST

/* Without a rule the condition that came closest names the axes. */
START_TEST(without_a_rule_the_map_has_the_closest_conditions_axes)
{
    char *page;

    result.diagnosis.rule = (struct rule){.reason = "no rule fits", .closest = "input=wide"};
    page = page_text();
    expect_text(page, ">input</text>");
    free(page);
}
END_TEST

static const struct {
    const char *text, *markdown;
} marked[] = {
    {"rms_norm saw.c", "rms_norm saw.c"},
    {"y[0,1] is 1 * 2, _not_ that", "y[0,1] is 1 * 2, \\_not\\_ that"},
    {"rows < 8 and *bold*", "rows < 8 and \\*bold\\*"},
    {"ask @someone", "`ask @someone`"},
    {"see https://x.org", "`see https://x.org`"},
    {"`` ](x", "``` `` ](x ```"},
    {"fixes #12", "`fixes #12`"},
    {"<b>&lt;|", "\\<b>\\&lt;\\|"},
};

START_TEST(markdown_reads_as_it_stands_and_forms_no_link)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    markup_markdown(out, marked[_i].text);
    fclose(out);
    ck_assert_str_eq(text, marked[_i].markdown);
    free(text);
}
END_TEST

TCase *documents_map_case(void)
{
    TCase *tcase = tcase_create("map");
    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_loop_test(tcase, the_map_has_the_terms_of_the_rule_for_axes, 0, sizeof maps / sizeof *maps);
    tcase_add_test(tcase, two_values_have_a_place_each_and_the_legend_names_what_there_is);
    tcase_add_test(tcase, without_a_rule_the_map_has_the_closest_conditions_axes);
    tcase_add_loop_test(tcase, markdown_reads_as_it_stands_and_forms_no_link, 0,
                        sizeof marked / sizeof *marked);
    return tcase;
}
