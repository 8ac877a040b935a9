/* Branches of a candidate as users meet them: a known kernel has the known ones, a condition that no
 * reader of the text understands is met, and builds that cannot be instrumented are named. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COVER(candidate, ...)                                                                                \
    CLI("cover", "softmax", candidate, "--device", "host", "--contract", "tiny.space", "--seen",             \
        "tiny.seen", "--effort", "quick", "--seed", "1", __VA_ARGS__)

static const char known[] =
    "#include <math.h>\n"
    "#include <stdint.h>\n"
    "static int kind(int64_t cols)\n"
    "{\n"
    "    switch (cols % 5) {\n"
    "    case 1: return 4;\n"
    "    case 9: return 5;\n"
    "    default: return 0;\n"
    "    }\n"
    "}\n"
    "int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)\n"
    "{\n"
    "    int64_t k = kind(cols), odd = cols % 2 ? rows : 0;\n"
    "    if (rows < 0 || cols > 1 << 24)\n"
    "        return 1;\n"
    "    if (stream && k)\n"
    "        return 1;\n"
    "    while (k > 3) {\n"
    "        if (!x)\n"
    "            continue;\n"
    "        k--;\n"
    "    }\n"
    "#pragma omp parallel for\n"
    "    for (int64_t r = 0; r < rows; r++) {\n"
    "        double top = -INFINITY, sum = 0;\n"
    "        for (int64_t c = 0; c < cols; c++)\n"
    "            top = x[r * cols + c] > top ? x[r * cols + c] : top;\n"
    "        for (int64_t c = 0; c < cols; c++)\n"
    "            sum += exp(x[r * cols + c] - top);\n"
    "        for (int64_t c = 0; c < cols; c++)\n"
    "            y[r * cols + c] = exp(x[r * cols + c] - top) / sum + 0 * odd;\n"
    "    }\n"
    "    return 0;\n"
    "}\n";

/* `if` with || and &&, a pointer, ?:, loops, and a switch; the pragma adds none. */
START_TEST(a_known_kernel_has_the_known_branches)
{
    cli_put("known.c", known);
    COVER("known.c", "-v");
    cli_expect(0, "taken  known.c:5 \"switch (cols % 5) {\" value 1\n"
                  "never  known.c:5 \"switch (cols % 5) {\" value 9\n"
                  "taken  known.c:5 \"switch (cols % 5) {\" another value\n"
                  "taken  known.c:13 \"int64_t k = kind(cols), odd = cols % 2 ? rows : 0;\" where ");
    cli_expect(0, "taken  known.c:14 \"if (rows < 0 || cols > 1 << 24)\" to line 14\n"
                  "never  known.c:14 \"if (rows < 0 || cols > 1 << 24)\" to line 15\n"
                  "never  known.c:14 \"if (rows < 0 || cols > 1 << 24)\" to line 15\n"
                  "taken  known.c:14 \"if (rows < 0 || cols > 1 << 24)\" to line 16\n"
                  "never  known.c:16 \"if (stream && k)\" to line 16\n"
                  "taken  known.c:16 \"if (stream && k)\" to line 18\n"
                  "never  known.c:16 \"if (stream && k)\" to line 17\n"
                  "never  known.c:16 \"if (stream && k)\" to line 18\n"
                  "taken  known.c:18 \"while (k > 3) {\" to line 19\n"
                  "taken  known.c:18 \"while (k > 3) {\" to line 24\n"
                  "never  known.c:19 \"if (!x)\" to line 19\n"
                  "taken  known.c:19 \"if (!x)\" to line 21\n"
                  "taken  known.c:24 \"for (int64_t r = 0; r < rows; r++) {\" to line 25\n"
                  "taken  known.c:24 \"for (int64_t r = 0; r < rows; r++) {\" to line 33\n");
    cli_expect(0, "reached 20 of 27 branches in ");
}
END_TEST

/* A header of the candidate's own has its name and lines; one elsewhere has no branches. */
START_TEST(headers_of_the_candidate_have_their_lines)
{
    cli_put("part.h",
            "\n\nstatic int part(long a)\n{\n    if (a == 1 << 20)\n        return 1;\n    return 0;\n}\n");
    cli_put_kernel("with.c", "", "float_to_bf16(part(rows)) == 7 ? 1 : 0");
    cli_put("all.c", "#include \"part.h\"\n#include \"candidate.h\"\n#include \"with.c\"\n");
    COVER("all.c", "-v");
    cli_expect(0, "never  part.h:5 \"if (a == 1 << 20)\" to line 6\n"
                  "taken  part.h:5 \"if (a == 1 << 20)\" to line 7\n");
    cli_expect_without("candidate.h:");
}
END_TEST

START_TEST(min_coverage_decides_the_status)
{
    cli_put("known.c", known);
    COVER("known.c", "-q", "--min-coverage", "74");
    cli_expect(0, "reached 20 of 27 branches in ");
    COVER("known.c", "-q", "--min-coverage", "75");
    cli_expect(1, "reached 20 of 27 branches in ");
    CLI("verify", "softmax", "known.c", TINY, "--unseen", "4", "--min-coverage", "75", "--json", "r.json");
    cli_expect(1, "--min-coverage 75: ");
    json_t *const root = cli_json("r.json");
    const json_t *const branches = json_object_get(root, "branches");
    ck_assert_str_eq(json_string_value(json_object_get(root, "verdict")), "general");
    ck_assert_int_eq(json_integer_value(json_object_get(branches, "count")), 27);
    ck_assert_int_eq(json_integer_value(json_object_get(branches, "added")), 0);
    ck_assert_int_eq(json_array_size(json_object_get(branches, "never")),
                     27 - json_integer_value(json_object_get(branches, "taken")));
    json_decref(root);
}
END_TEST

/* A right softmax that adds to the first element where the condition holds. Its numbers a, b and c come
 * through a function pointer, so that no reader of the text knows them. */
static void put_hidden(const char *name, const char *condition)
{
    char text[2000];
    snprintf(text, sizeof text,
             "#include <math.h>\n#include <stdint.h>\n"
             "static int64_t step(int64_t *s) { return *s = *s * 75 %% 65537; }\n"
             "static int64_t (*volatile next)(int64_t *) = step;\n"
             "int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)\n{\n"
             "    int64_t s = 7, a = next(&s) %% 20 + 40, b = next(&s) %% 8 + 20, c = a / 4;\n"
             "    (void)stream;\n"
             "    for (int64_t r = 0; r < rows; r++) {\n"
             "        double top = -INFINITY, sum = 0;\n"
             "        for (int64_t i = 0; i < cols; i++) top = fmax(top, x[r * cols + i]);\n"
             "        for (int64_t i = 0; i < cols; i++) sum += exp(x[r * cols + i] - top);\n"
             "        for (int64_t i = 0; i < cols; i++)\n"
             "            y[r * cols + i] = exp(x[r * cols + i] - top) / sum;\n"
             "    }\n    %s\n        y[0] += 0.5f;\n    return 0;\n}\n",
             condition);
    cli_put(name, text);
}

/* A comparison behind another one, a remainder, two results that are stored, and a product. Equal seeds
 * give equal configurations. */
START_TEST(conditions_on_computed_numbers_are_met)
{
    static const struct {
        const char *condition, *blind, *steered;
    } cases[] = {
        {"if (cols % (a + 27) == c && rows == b)", "reached 11 of 12 branches", "reached 12 of 12 branches"},
        {"if (cols % (10 * a) == 9 * a + c)", "reached 9 of 10 branches", "reached 10 of 10 branches"},
        {"int narrow = cols == 9 * a, odd = rows == b; if (narrow & odd)", "reached 9 of 10 branches",
         "reached 10 of 10 branches"},
        {"if (rows * cols == 16 * (a + b) + 2)", "reached 9 of 10 branches", "reached 10 of 10 branches"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_hidden("hidden.c", cases[i].condition);
        COVER("hidden.c", "--blind");
        cli_expect(0, cases[i].blind);
        cli_expect_without("added  ");
        COVER("hidden.c", "-v");
        cli_expect(0, cases[i].steered);
        cli_expect(0, "# reached line 16: ");
        if (i > 0)
            continue;
        char *const first = strdup(cli.out);
        COVER("hidden.c", "-v");
        cli_expect(0, first);
        free(first);
        COVER("hidden.c", "--seed", "4"); /* needs calls around the one that reached the comparison */
        cli_expect(0, cases[i].steered);
    }
}
END_TEST

/* They join the directed configurations, and the rule names the line. */
START_TEST(verify_judges_what_branches_suggest)
{
    put_hidden("hidden.c", "if (rows * cols == 16 * (a + b) + 2)");
    CLI("verify", "softmax", "hidden.c", TINY, "--effort", "quick", "--seed", "1", "--no-explain", "--json",
        "r.json");
    cli_expect(1, "10 of 10 branches of its code reached");
    json_t *const root = cli_json("r.json");
    const json_t *result;
    size_t i;
    int added = 0;
    json_array_foreach(json_object_get(root, "results"), i, result)
    {
        const char *const why = json_string_value(json_object_get(result, "why"));
        added += json_is_true(json_object_get(result, "directed")) && strstr(why, "reached line 16: ") == why;
    }
    ck_assert_int_gt(added, 0);
    ck_assert_int_eq(cli_count(root, "unseen", "wrong"), 0);
    ck_assert_int_gt(cli_count(root, "directed", "wrong"), 0);
    json_decref(root);
}
END_TEST

/* A build without optimization that crashes is named, and the others are called. */
START_TEST(a_crash_of_the_instrumented_build_is_named)
{
    cli_put_kernel("crash.c", "\n#ifndef __OPTIMIZE__\nif (cols == 3 && rows < 20) abort();\n#endif\n", "0");
    COVER("crash.c", "-q");
    cli_expect(0, "the instrumented build did not return from rows=");
    cli_expect(0, "killed by signal 6");
    cli_expect(0, "reached 12 of 12 branches in 2");
    CLI("verify", "softmax", "crash.c", TINY, "--unseen", "4", "--min-coverage", "1");
    cli_expect(0, "general: ");
}
END_TEST

START_TEST(candidates_without_a_coverage_are_named)
{
    cli_put("object.so", "");
    cli_put_kernel("plain.c", "", "0");
    ck_assert_int_eq(system("cc -shared -fPIC -o object.so plain.c -lm"), 0);
    COVER("object.so", "-q");
    cli_expect_error(2, "no coverage: the candidate is a built object (.so)", "which has no text", "--->");
    cli_put_kernel("plain.c", "\n#ifndef __OPTIMIZE__\n#error only with optimization\n#endif\n", "0");
    COVER("plain.c", "-q");
    cli_expect_error(2, "no coverage: without optimization and with tracing", "#error only with", "--->");
}
END_TEST

TCase *cli_cover_case(void)
{
    TCase *tcase = tcase_create("cover");
    tcase_add_checked_fixture(tcase, cli_setup, cli_teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_known_kernel_has_the_known_branches);
    tcase_add_test(tcase, headers_of_the_candidate_have_their_lines);
    tcase_add_test(tcase, min_coverage_decides_the_status);
    tcase_add_test(tcase, conditions_on_computed_numbers_are_met);
    tcase_add_test(tcase, verify_judges_what_branches_suggest);
    tcase_add_test(tcase, a_crash_of_the_instrumented_build_is_named);
    tcase_add_test(tcase, candidates_without_a_coverage_are_named);
    return tcase;
}
