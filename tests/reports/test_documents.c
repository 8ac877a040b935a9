/* The reports in files, read as their readers do: tags balance, nothing comes from elsewhere, hostile words
 * stay words. */
#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/github.h"
#include "reports/html/html.h"
#include "reports/formats/junit.h"
#include "reports/formats/markdown.h"
#include "reports/record/quadrants.h"
#include "report_sample.h"

enum { MOST_DEPTH = 64, NAME = 32 };

static const char hostile[] =
    "</title></td><script>alert(1)</script>\"'><img src=x onerror=alert(2)> & \xff\x01 "
    "\xe2\x80\xae ``` ```` @team #1 ![a](https://example.com) ]]> %0A\n::error::owned";

typedef void printer(FILE *out, const struct result *const *results, int count);

static void setup(void)
{
    fill_full_result();
    result.published_tolerance = false; /* our own judgement decides */
}

static char *print(printer *print_to, int count)
{
    const struct result *const results[] = {&result, &result, &result};
    static char *text;
    static size_t size;
    FILE *out = open_memstream(&text, &size);
    print_to(out, results, count);
    fclose(out);
    return text;
}

static int count_of(const char *text, const char *what)
{
    int count = 0;
    for (const char *c = text; (c = strstr(c, what)) != NULL; c++)
        count++;
    return count;
}

static void expect_text(const char *text, const char *expected)
{
    ck_assert_msg(strstr(text, expected) != NULL, "no \"%s\" in\n%.2000s", expected, text);
}

/* --- markup --- */

static bool is_one_of(const char *name, const char *words)
{
    char wanted[NAME + 2];
    snprintf(wanted, sizeof wanted, " %s ", name);
    return strstr(words, wanted) != NULL;
}

/* name="value" pairs up to '>'; returns its place. */
static const char *skip_attributes(const char *c)
{
    while (*(c += strspn(c, " \n")) != '>' && *c != '/' && *c != '?') {
        const size_t name = strspn(c, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789");
        ck_assert_msg(name > 0, "no attribute: %.80s", c);
        c += name;
        if (*c != '=')
            continue;
        ck_assert_msg(c[1] == '"', "an attribute without quotes: %.80s", c);
        c += 2;
        c += strcspn(c, "\"<");
        ck_assert_msg(*c == '"', "an attribute with a tag in it: %.80s", c);
        c++;
    }
    return c;
}

/* Every tag is closed by its own; `empty` names tags without an end. Text has no stray '<', '>' or '&'. */
static void expect_balanced(const char *text, const char *empty)
{
    char open[MOST_DEPTH][NAME];
    int depth = 0;
    for (const char *c = text; *c != '\0';) {
        if (*c != '<') {
            ck_assert_msg(*c != '>', "a stray '>': %.80s", c);
            ck_assert_msg(*c != '&' || strcspn(c, ";") < 8, "a stray '&': %.80s", c);
            c++;
            continue;
        }
        if (strncmp(c, "<!DOCTYPE", 9) == 0 || strncmp(c, "<?xml", 5) == 0) {
            c = strchr(c, '>') + 1;
            continue;
        }
        const bool end = c[1] == '/';
        char name[NAME];
        c += 1 + end;
        const size_t length = strspn(c, "abcdefghijklmnopqrstuvwxyz0123456789");
        ck_assert_msg(length > 0 && length < NAME, "no tag: %.80s", c - 1);
        snprintf(name, sizeof name, "%.*s", (int)length, c);
        c = skip_attributes(c + length);
        const bool alone = *c == '/' || is_one_of(name, empty);
        c += 1 + (*c == '/');
        if (end) {
            ck_assert_msg(depth > 0 && strcmp(open[depth - 1], name) == 0, "</%s> closes <%s>: %.80s", name,
                          depth > 0 ? open[depth - 1] : "nothing", c);
            depth--;
        } else if (!alone) {
            ck_assert_int_lt(depth, MOST_DEPTH);
            strcpy(open[depth++], name);
        }
        if (!end && is_one_of(name, " script style "))
            c = strstr(c, name[1] == 'c' ? "</script>" : "</style>");
        ck_assert_ptr_nonnull(c);
    }
    ck_assert_int_eq(depth, 0);
}

static void make_hostile(void)
{
    snprintf(result.candidate_path, sizeof result.candidate_path, "%s", hostile);
    snprintf(results[37].detail, sizeof results[37].detail, "%s", hostile);
    snprintf(results[36].why, sizeof results[36].why, "%.90s", hostile);
    snprintf(result.diagnosis.minimal.detail, sizeof result.diagnosis.minimal.detail, "%s", hostile);
    snprintf(result.finding[1].evidence, sizeof result.finding[1].evidence, "%s", hostile);
    snprintf(result.notes, sizeof result.notes, "%s", hostile);
    result.effort = result.version = result.git = hostile;
}

static const char *const sections[] = {
    "<header class=\"verdict\">",    "<section class=\"sets\">",  "<section class=\"map\">",
    "<section class=\"roofline\">",  "<section class=\"speed\">", "<section class=\"worst\">",
    "<section class=\"reproduce\">", "<section class=\"rows\">",  "<section class=\"provenance\">",
};

START_TEST(the_page_has_all_sections_all_configurations_and_balanced_tags)
{
    char *page = print(html_print, 1), line[256];
    const char *at = page;
    expect_balanced(page, " meta ");
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        at = strstr(at, sections[i]); /* in this order: the verdict on top */
        ck_assert_msg(at != NULL, "%s", sections[i]);
    }
    ck_assert_int_eq(count_of(page, " class=\"configuration "), 40);
    for (int i = 0; i < 40; i++) {
        snprintf(line, sizeof line, "<code>%.200s</code>", results[i].line);
        expect_text(page, line);
    }
    expect_text(page, "<h1 class=\"bad\">specialized</h1>");
    expect_text(page,
                "It fails when cols % 4096 != 0. Confirmed on fresh runs: 37 of 37 inside the rule fail");
    expect_text(page, "2026-11-23T11:00:00Z, effort standard, seed 9007199254740991, on AMD EPYC");
    expect_text(page, "unseen verify ./softmax bad/tile4096.c --device host --seed 9007199254740991");
    expect_text(page, "<a href=\"#result0-38\">");
    expect_text(page, "<tr id=\"result0-38\" class=\"configuration ");
    expect_text(page, ">cols % 4096</text>"); /* the map's axes are the rule's */
    expect_text(page, "unseen check ./softmax bad/tile4096.c &#39;rows=1 cols=1 input=normal seed=1&#39; "
                      "--device host --contract &#39;my space&#39;");
    free(page);
}
END_TEST

/* One for each of 40 configurations in both maps, and one for each time in the two others. */
START_TEST(the_drawings_show_every_configuration)
{
    int timed = 0, passed = 0;
    char *page = print(html_print, 1), *map, *roofline;
    for (int i = 0; i < 40; i++) {
        passed += results[i].outcome == OUTCOME_PASS;
        timed += results[i].outcome == OUTCOME_PASS && results[i].timing.present;
    }
    map = strstr(page, "<section class=\"map\">");
    roofline = strstr(page, "<section class=\"roofline\">");
    ck_assert_int_eq(count_of(roofline, "class=\"dot "), 2 * timed);
    roofline[0] = '\0';
    ck_assert_int_eq(count_of(map, "class=\"dot "), 2 * 40);
    ck_assert_int_eq(count_of(map, "class=\"dot pass"), 2 * passed);
    ck_assert_int_eq(count_of(map, "class=\"dot skip"), 2);
    ck_assert_ptr_null(strstr(map, "nan"));
    free(page);
}
END_TEST

START_TEST(the_page_is_self_contained)
{
    static const char *const foreign[] = {"http:", "https:", "src=",    "url(", "@import",
                                          "<link", "<img",   "<iframe", "//"};
    char *page = print(html_print, 2);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        ck_assert_msg(strstr(page, foreign[i]) == NULL, "%s", foreign[i]);
    ck_assert_int_eq(count_of(page, "href="), count_of(page, "href=\"#"));
    expect_text(page, "default-src 'none'");
    expect_text(page, "prefers-color-scheme:dark");
    expect_text(page, "width=device-width");
    free(page);
}
END_TEST

START_TEST(hostile_words_stay_words_in_the_page)
{
    make_hostile();
    char *page = print(html_print, 2);
    expect_balanced(page, " meta ");
    ck_assert_int_eq(count_of(page, "<script"), 1);
    ck_assert_int_eq(count_of(page, "<img"), 0);
    expect_text(page, "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;&lt;img src=x");
    for (const char *c = page; *c != '\0'; c++)
        ck_assert_msg((unsigned char)*c != 0xff && (*c >= ' ' || *c == '\n' || *c < 0), "byte %d", *c);
    ck_assert_ptr_null(strstr(page, "\xe2\x80\xae"));
    free(page);
}
END_TEST

START_TEST(a_page_of_a_run_that_never_started_is_whole)
{
    result =
        (struct result){.verdict = VERDICT_INCONCLUSIVE, .partial = true, .partial_reason = "not started"};
    char *page = print(html_print, 1);
    expect_balanced(page, " meta ");
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        expect_text(page, sections[i]);
    free(page);
}
END_TEST

/* --- several --- */

START_TEST(candidates_side_by_side_are_compared_on_what_both_judged)
{
    static struct config_result others[3];
    struct result other = result;
    memcpy(others, &results[36], sizeof others); /* wrong, wrong, crash */
    others[0].outcome = OUTCOME_PASS;
    strcpy(others[2].line, "rows=77");
    other.results = others;
    other.result_count = 3;
    const struct quadrants seen = quadrants_of(&result, &other, false),
                           unseen = quadrants_of(&result, &other, true);
    ck_assert_int_eq(quadrants_common(&seen), 0);
    ck_assert_int_eq(unseen.both, 0);
    ck_assert_int_eq(unseen.second, 1);
    ck_assert_int_eq(unseen.neither, 1);
    ck_assert_int_eq(unseen.first, 0);
    const struct passed passed = passed_of(&result, true);
    ck_assert_int_eq(passed.judged, 35);
    ck_assert_int_eq(passed.pass, 32);
}
END_TEST

START_TEST(a_page_of_several_begins_with_them_side_by_side)
{
    char *page = print(html_print, 3);
    expect_balanced(page, " meta ");
    ck_assert(strstr(page, "id=\"side-by-side\"") < strstr(page, "id=\"result0\""));
    expect_text(page, "id=\"result2\"");
    ck_assert_int_eq(count_of(page, "class=\"dot candidate\""), 3);
    expect_text(page, "<th>first only</th>");
    free(page);
}
END_TEST

/* --- JUnit --- */

START_TEST(junit_has_a_case_for_each_configuration_and_one_for_the_verdict)
{
    fill_result();
    result.diagnosis.present = false;
    results[5].timing.present = results[38].timing.present = false; /* a scout and a crash have no time */
    char *xml = print(junit_print, 1);
    expect_balanced(xml, " ");
    ck_assert_int_eq(count_of(xml, "<testcase "), 41);
    ck_assert_int_eq(count_of(xml, " time=\""), 41); /* each has its time; without a measurement it is 0 */
    ck_assert_int_eq(count_of(xml, "<failure "), 3); /* wrong, crash, the verdict */
    ck_assert_int_eq(count_of(xml, "<skipped "), 1);
    expect_text(xml, "tests=\"36\" failures=\"2\" errors=\"0\" skipped=\"1\"");
    expect_text(
        xml,
        "<failure type=\"wrong\" message=\"14 of 16396 elements wrong, the first at y[0,4096]\">unseen check "
        "softmax bad/tile4096.c &#39;rows=4 cols=4099 input=normal seed=91&#39;");
    expect_text(xml, "<skipped message=\"needs 12 GB, the machine has 4 GB\"/>");
    free(xml);
    result.verdict = VERDICT_GENERAL;
    xml = print(junit_print, 1);
    ck_assert_int_eq(count_of(xml, "<failure "), 2);
    free(xml);
}
END_TEST

/* Every document agrees with the terminal: on both checks, and on a configuration that only one of them
 * rejects. */
START_TEST(a_tolerance_of_the_contract_is_shown_beside_ours)
{
    static const struct {
        void (*print)(FILE *, const struct result *const *, int);
        const char *ours, *yours, *one;
    } documents[] = {
        {html_print, "<dt>our check</dt>\n<dd>specialized (decides: element by element",
         "<dt>your check</dt>\n<dd>general (atol=0.001 rtol=0.01 of the contract alone); passes 1 of the 2 ",
         "<p>atol=0.001 rtol=0.01 of the contract passes it</p>"},
        {junit_print, "<property name=\"our check\" value=\"specialized (decides: element by element",
         "<property name=\"your check\" value=\"general (atol=0.001 rtol=0.01 of the contract alone); passes "
         "1 of the 2 ",
         "\natol=0.001 rtol=0.01 of the contract passes it</failure>"},
        {markdown_print, "our check", "atol=0.001 rtol=0.01 of the contract alone", "your check"},
    };
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        fill_result();
        result.published_judged = false;
        char *text = print(documents[i].print, 1);
        ck_assert_ptr_null(strstr(text, "our check"));
        free(text);
        result.published_judged = result.own_tolerance.present = true;
        result.own_tolerance.atol = 0.001;
        result.own_tolerance.rtol = 0.01;
        result.published_verdict = VERDICT_GENERAL;
        for (int k = 0; k < result.result_count; k++)
            result.results[k].published_judged = result.results[k].published_pass = true;
        text = print(documents[i].print, 1);
        expect_text(text, documents[i].ours);
        expect_text(text, documents[i].yours);
        expect_text(text, documents[i].one);
        free(text);
    }
}
END_TEST

START_TEST(hostile_words_stay_words_in_junit)
{
    make_hostile();
    char *xml = print(junit_print, 2);
    expect_balanced(xml, " ");
    ck_assert_int_eq(count_of(xml, "<testcase "), 82);
    ck_assert_ptr_null(strchr(xml, '\x01'));
    ck_assert_ptr_null(strchr(xml, '\xff'));
    free(xml);
}
END_TEST

/* --- Markdown, annotations --- */

START_TEST(markdown_stays_below_60_lines_and_its_fences_balance)
{
    for (int round = 0; round < 4; round++) {
        if (round == 1)
            make_hostile();
        for (int i = 0; i < 40 && round == 2; i++)
            results[i].outcome = (enum outcome)(i % OUTCOME_COUNT);
        for (int i = 0; i < OUTCOME_COUNT && round == 2; i++)
            result.seen.outcome[i] = result.unseen.outcome[i] = 1;
        char *text = print(markdown_print, round == 3 ? 3 : 1);
        ck_assert_int_lt(count_of(text, "\n"), 60);
        ck_assert_int_ge(count_of(text, "unseen check ./softmax "), 1);
        free(text);
    }
}
END_TEST

/* Code spans by CommonMark 0.31, 6.1: a run of backticks up to the next run of equal length. Escapes outside
 * of them. */
static void blank_code(char *text)
{
    while (*text != '\0') {
        const size_t run = strspn(text, "`");
        char *end = text + run;

        if (*text == '\\' && text[1] != '\0') {
            text[0] = text[1] = ' ';
            text += 2;
            continue;
        }
        while (run > 0 && *end != '\0' && strspn(end, "`") != run)
            end += strspn(end, "`") > 0 ? strspn(end, "`") : 1;
        ck_assert_msg(run == 0 || *end != '\0', "a code span without an end: %.80s", text);
        if (run > 0)
            memset(text, ' ', (size_t)(end - text) + run);
        text = run > 0 ? end + run : text + 1;
    }
}

START_TEST(hostile_words_stay_words_in_markdown)
{
    make_hostile();
    char *text = print(markdown_print, 1), *fence = strstr(text, "`````sh\n"), *end;
    ck_assert_ptr_nonnull(fence); /* longer than the four in a command */
    end = strstr(fence + 5, "\n`````\n");
    ck_assert_ptr_nonnull(end);
    memset(fence, ' ', (size_t)(end - fence) + 6); /* the rest is prose */
    blank_code(text);
    ck_assert_ptr_null(strstr(text, "<script"));
    ck_assert_ptr_null(strchr(text, '@'));
    ck_assert_ptr_null(strstr(text, "]("));
    ck_assert_ptr_null(strstr(text, "https:"));
    free(text);
}
END_TEST

START_TEST(annotations_are_one_line_each_whatever_was_said)
{
    char *text = NULL, *rest, *line;
    size_t size = 0;
    int lines = 0, owned = 0;
    make_hostile();
    FILE *out = open_memstream(&text, &size);
    github_print(out, &result);
    fclose(out);
    rest = text;
    while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
        ck_assert_msg(strncmp(line, "::error file=%", 14) != 0 && strncmp(line, "::error file=<", 14) == 0,
                      "%s", line);
        const char *title = strstr(line, ",line=1,title=softmax%3A ");
        ck_assert_msg(title != NULL && strstr(title, "::") != NULL, "%s", line);
        ck_assert_ptr_null(
            memchr(line + 8, ':', (size_t)(strstr(title, "::") - line - 8))); /* none in a property */
        owned += strstr(line, "%250A%0A::error::owned") != NULL; /* in the data: no line of its own */
        lines++;
    }
    ck_assert_int_eq(owned, 1);
    ck_assert_int_eq(lines, 4); /* the verdict, two wrong, a crash */
    free(text);
}
END_TEST

TCase *documents_case(void)
{
    TCase *tcase = tcase_create("documents");
    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, the_page_has_all_sections_all_configurations_and_balanced_tags);
    tcase_add_test(tcase, the_drawings_show_every_configuration);
    tcase_add_test(tcase, the_page_is_self_contained);
    tcase_add_test(tcase, hostile_words_stay_words_in_the_page);
    tcase_add_test(tcase, a_page_of_a_run_that_never_started_is_whole);
    tcase_add_test(tcase, candidates_side_by_side_are_compared_on_what_both_judged);
    tcase_add_test(tcase, a_page_of_several_begins_with_them_side_by_side);
    tcase_add_test(tcase, junit_has_a_case_for_each_configuration_and_one_for_the_verdict);
    tcase_add_test(tcase, a_tolerance_of_the_contract_is_shown_beside_ours);
    tcase_add_test(tcase, hostile_words_stay_words_in_junit);
    tcase_add_test(tcase, markdown_stays_below_60_lines_and_its_fences_balance);
    tcase_add_test(tcase, hostile_words_stay_words_in_markdown);
    tcase_add_test(tcase, annotations_are_one_line_each_whatever_was_said);
    return tcase;
}
