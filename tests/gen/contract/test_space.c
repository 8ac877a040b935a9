/* Streams, contracts, limits, configuration lines. Runs in the repository root. */
#include "gen_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/constraint.h"
#include "gen/random/pcg.h"

Suite *gen_suite(void);

static const char gemm_head[] = "m 1..64 tile 16\nn 1..64\n";

/* --- helpers --- */

static char temporary[64];

const char *write_file(const char *text)
{
    snprintf(temporary, sizeof temporary, "/tmp/unseen_gen_XXXXXX");
    int file = mkstemp(temporary);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, text, strlen(text)), (int)strlen(text));
    close(file);
    return temporary;
}

static int read_space(struct space *space, const char *problem, const char *text, struct space_error *error)
{
    int result = space_read(space, problem_find(problem), write_file(text), error);
    unlink(temporary);
    return result;
}

struct space good_space(const char *problem, const char *text)
{
    struct space space;
    struct space_error error = {""};
    ck_assert_msg(read_space(&space, problem, text, &error) == 0, "%s", error.text);
    return space;
}

/* --- streams --- */

START_TEST(a_stream_is_its_seed_and_purpose)
{
    struct pcg *a = pcg_new(1, "x"), *same = pcg_new(1, "x"), *seed = pcg_new(2, "x"),
               *purpose = pcg_new(1, "y");
    int seeds_agree = 0, purposes_agree = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t value = pcg_next(a);
        ck_assert(value == pcg_next(same));
        seeds_agree += value == pcg_next(seed);
        purposes_agree += value == pcg_next(purpose);
    }
    ck_assert_int_eq(seeds_agree + purposes_agree, 0);
    pcg_free(a), pcg_free(same), pcg_free(seed), pcg_free(purpose);
}
END_TEST

/* The bits of a configuration line must mean the same for ever. */
START_TEST(a_stream_never_changes)
{
    struct pcg *pcg = pcg_new(91, "softmax/shape");
    ck_assert_uint_eq(pcg_next(pcg), UINT64_C(9047915022819995767));
    ck_assert_uint_eq(pcg_below(pcg, 1000), 493);
    pcg_free(pcg);
}
END_TEST

START_TEST(numbers_below_a_bound_are_uniform)
{
    struct pcg *pcg = pcg_new(3, "test");
    struct random random = pcg_random(pcg);
    int count[7] = {0};
    double sum = 0;
    for (int i = 0; i < 70000; i++) {
        count[random_below(&random, 7)]++;
        double unit = pcg_unit(pcg);
        ck_assert(unit >= 0 && unit < 1);
        sum += unit;
    }
    for (int i = 0; i < 7; i++)
        ck_assert(abs(count[i] - 10000) < 500); /* five standard deviations are 463 */
    ck_assert_double_eq_tol(sum / 70000, 0.5, 0.006);
    pcg_free(pcg);
}
END_TEST

/* --- contracts --- */

START_TEST(a_contract_is_read_as_written)
{
    struct space space = good_space("gemm_fp8", "# comment\n\nm 1..2^14 tile 16 64 # more\n"
                                                "k = 4096\n\tn  96 64 80\r\ninput needle normal\n"
                                                "limit m*n <= 2^20\nlimit m % 2 == 0");
    ck_assert_int_eq(space.domain[0].high, 16384);
    ck_assert_int_eq(space.domain[0].tile_count, 2);
    ck_assert_int_eq(space.domain[0].tile[1], 64);
    ck_assert_int_eq(space.domain[1].value_count, 3);
    ck_assert_int_eq(space.domain[1].value[0], 64);
    ck_assert_int_eq(space.domain[1].high, 96);
    ck_assert_int_eq(space.domain[2].value_count, 1);
    ck_assert_int_eq(space.domain[2].low, 4096);
    ck_assert_int_eq(space.domain[3].value[0], 2); /* needle, in the file's order */
    ck_assert_int_eq(space.constraint_count, 2);
    ck_assert_str_eq(constraint_text(space.constraint[0]), "m*n <= 2^20");
    space_clear(&space);
}
END_TEST

static const struct {
    const char *text, *line, *says;
} bad_lines[] = {
    {"k 1..8\ninput normal\nz 1..4\n", ":5: ", "unknown axis 'z'; gemm_fp8 has m, n, k, input"},
    {"k 1..8\nk 1..9\ninput normal\n", ":4: ", "k is given twice"},
    {"k 1..8\n", ":3: ", "ends without input"},
    {"k 8..1\ninput normal\n", ":3: ", "not empty"},
    {"k 0..1\ninput normal\n", ":3: ", "from 1 or more"},
    {"k 1..\ninput normal\n", ":3: ", "greatest value after '..'"},
    {"k\ninput normal\n", ":3: ", "expected a range"},
    {"k = \ninput normal\n", ":3: ", "expected a range"},
    {"k five\ninput normal\n", ":3: ", "found 'five'"},
    {"k -3\ninput normal\n", ":3: ", "found '-3'"},
    {"k 1..8 17\ninput normal\n", ":3: ", "found '17'; expected 'tile'"},
    {"k 1..8x\ninput normal\n", ":3: ", "found 'x'"},
    {"k 64 64\ninput normal\n", ":3: ", "every value once"},
    {"k 64 6a\ninput normal\n", ":3: ", "found '6a'"},
    {"k 1..2^63\ninput normal\n", ":3: ", "found '2^63'"},
    {"k 1..8 tile\ninput normal\n", ":3: ", "tile sizes after"},
    {"k 1..8 tile 0\ninput normal\n", ":3: ", "tile sizes of 1 or more"},
    {"k 1..8 tiles 4\ninput normal\n", ":3: ", "found 'tiles 4'"},
    {"k 1..8 tile 4 tile 8\ninput normal\n", ":3: ", "tile"},
    {"k 1..8 tile 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n", ":3: ", "fewer numbers"},
    {"k 1..8\ninput normal odd\n", ":4: ", "found 'odd'; expected one of normal, integers"},
    {"k 1..8\ninput\n", ":4: ", "expected one of normal"},
    {"k 1..8\ninput normal normal\n", ":4: ", "every choice once"},
    {"k 1..8\ninput normal tile 4\n", ":4: ", "found 'tile 4'"},
    {"k 1..8\ninput normal\n= 5\n", ":5: ", "unknown axis"},
    {"limit m*z <= 4\n", ":3: limit: ", "found 'z <= 4'"},
    {"limit input == 1\n", ":3: limit: ", "name of a number axis"},
    {"limit m*n\n", ":3: limit: ", "ends early; expected an operator or a comparison"},
    {"limit m <= n <= k\n", ":3: limit: ", "one comparison a line"},
    {"limit (m <= n\n", ":3: limit: ", "expected an operator or ')'"},
    {"limit\n", ":3: limit: ", "ends early"},
    {"limit m <= 9223372036854775808\n", ":3: limit: ", "below 2^63"},
    {"limit ((((((((((((((((((((((((((((((((((((m)))) < 3\n", ":3: limit: ", "fewer nested"},
};

START_TEST(a_bad_contract_line_is_named_with_file_and_line)
{
    struct space space;
    struct space_error error = {""};
    char text[400], where[100];
    snprintf(text, sizeof text, "%s%s", gemm_head, bad_lines[_i].text);
    ck_assert_msg(read_space(&space, "gemm_fp8", text, &error) == -1, "accepted: %s", text);
    snprintf(where, sizeof where, "%s%s", temporary, bad_lines[_i].line);
    expect_contains(error.text, where);
    expect_contains(error.text, bad_lines[_i].says);
    expect_contains(error.text, "\n---> ");
    expect_contains(error.text, "; ");
}
END_TEST

START_TEST(an_unreadable_contract_is_an_error)
{
    struct space space;
    struct space_error error;
    ck_assert_int_eq(space_read(&space, problem_find("softmax"), "/no/such.space", &error), -1);
    expect_contains(error.text, "/no/such.space: cannot be read");
    ck_assert_int_eq(space_read(&space, problem_find("softmax"), "/tmp", &error), -1);
    expect_contains(error.text, "/tmp: cannot be read");
    ck_assert_int_eq(read_space(&space, "softmax", "", &error), -1);
    expect_contains(error.text, ":1: the file ends without rows");
}
END_TEST

START_TEST(a_limit_too_long_or_too_many_is_an_error)
{
    char text[2000] = "limit m", why[200];
    struct space space;
    struct space_error error;
    for (int i = 0; i < 70; i++)
        strcat(text, "+m");
    strcat(text, " < 5");
    ck_assert_ptr_null(constraint_parse(problem_find("gemm_fp8"), text + 6, why, sizeof why));
    expect_contains(why, "a shorter limit");
    text[0] = '\0';
    for (int i = 0; i < SPACE_MAX_CONSTRAINTS + 1; i++)
        strcat(text, "limit m < 5\n");
    ck_assert_int_eq(read_space(&space, "gemm_fp8", text, &error), -1);
    expect_contains(error.text, "one limit too many");
}
END_TEST

/* With m = 6, n = 4, k = 3. */
static const struct {
    const char *text;
    bool holds;
} limits[] = {
    {"m + n * k == 18", true},
    {"(m + n) * k == 30", true},
    {"m - n - k == -1", true},
    {"m / n * n == 4", true},
    {"m % n == 2", true},
    {"2^3^2 == 512", true},
    {"-2^2 == -4", true},
    {"2*-3 == -6", true},
    {"m != n", true},
    {"m < 6", false},
    {"m <= 6", true},
    {"m > 6", false},
    {"m >= 6", true},
    {"n%0 == 0", false},
    {"n/(m-6) != 1", false},
    {"2^(0-1) <= 5", false},
    {"m*2^62 <= 2^62", false},
    {"m*2^62*2^62 > 2^62", true},
    {"0 - 2^62 - 2^62 - 2^62 < 0 - 2^62", true},
    {"(0-9223372036854775807-1) / -1 == 9223372036854775807", true},
    {"(0-9223372036854775807-1) % -1 == 0", true},
    {"(0-1)^1000001 == -1", true},
    {"(0-1)^1000000 == 1", true},
    {"2^1000000000000 > 0", true},
    {"0^0 == 1", true},
};

START_TEST(a_limit_means_what_arithmetic_says)
{
    struct config config = parse("gemm_fp8", "m=6 n=4 k=3");
    char why[200] = "";
    struct constraint *limit = constraint_parse(config.problem, limits[_i].text, why, sizeof why);
    ck_assert_msg(limit != NULL, "%s: %s", limits[_i].text, why);
    ck_assert_msg(constraint_holds(limit, &config) == limits[_i].holds, "%s", limits[_i].text);
    constraint_free(limit);
}
END_TEST

START_TEST(a_point_outside_the_contract_is_told_why)
{
    struct space space = published_space("paged_attention");
    struct space_error error;
    struct config config = parse("paged_attention", "batch=1 heads=3 kv_heads=2 head_dim=64 "
                                                    "page_size=16 max_len=5");
    ck_assert(!space_contains(&space, &config, &error));
    expect_contains(error.text, "heads % kv_heads == 0");
    config.value[1] = 2000;
    ck_assert(!space_contains(&space, &config, &error));
    expect_contains(error.text, "heads=2000; in the contract heads is in 1..1024");
    config.value[1] = 4;
    ck_assert(space_contains(&space, &config, NULL));
    config.value[3] = 65;
    ck_assert(!space_contains(&space, &config, &error));
    expect_contains(error.text, "one of 64 80 96 112 128 256");
    space_clear(&space);
}
END_TEST

/* --- configuration lines --- */

START_TEST(a_line_reads_back_as_it_was_written)
{
    struct config config = parse("softmax", "  seed=91\tcols=2^12 input=needle rows=3 # why"), again;
    char line[200];
    int length = config_format(&config, line, sizeof line);
    ck_assert_str_eq(line, "rows=3 cols=4096 input=needle seed=91");
    ck_assert_int_eq(length, (int)strlen(line));
    again = parse("softmax", line);
    ck_assert(config_equal(&config, &again));
    again.seed = 92;
    ck_assert(!config_equal(&config, &again) && config_same_point(&config, &again));
    ck_assert_int_eq(config_format(&config, line, 5), length);
    ck_assert_str_eq(line, "rows");
    config = parse("softmax", "rows=1 cols=1"); /* the published input, seed 0 */
    ck_assert(config.value[2] == 0 && config.seed == 0);
}
END_TEST

static const struct {
    const char *line, *says;
} bad_configs[] = {
    {"rows=3", "cols is missing"},
    {"", "rows is missing"},
    {"rows=3 cols", "'cols'; a pair axis=value"},
    {"rows=3 =4", "'=4'; a pair axis=value"},
    {"rows= 3 cols=4", "'rows='; a pair"},
    {"rows=3 cols=4 depth=1", "unknown axis 'depth'; softmax has rows, cols, input and seed"},
    {"rows=3 rows=4 cols=1", "rows is given twice"},
    {"rows=3 cols=4x", "cols=4x; a whole number"},
    {"rows=-3 cols=4", "rows=-3; a whole number"},
    {"rows=99999999999999999999 cols=4", "a whole number"},
    {"rows=3 cols=4 input=odd", "input=odd; expected one of normal, extreme"},
    {"rows=3 cols=4 seed=x", "seed=x; a number below 2^64"},
    {"rows=3 cols=4 seed=18446744073709551616", "a number below 2^64"},
    {"rows=3 cols=4 seed=1 seed=2", "seed is given twice"},
};

START_TEST(a_bad_configuration_line_is_told_why)
{
    struct config config;
    struct space_error error = {""};
    ck_assert_int_eq(config_parse(&config, problem_find("softmax"), bad_configs[_i].line, "f.seen:7", &error),
                     -1);
    ck_assert_int_eq(strncmp(error.text, "f.seen:7: ", 10), 0);
    expect_contains(error.text, bad_configs[_i].says);
    expect_contains(error.text, "\n---> ");
}
END_TEST

START_TEST(an_instance_comes_from_its_line_alone)
{
    struct config config = parse("paged_attention", "batch=5 heads=4 kv_heads=2 head_dim=64 "
                                                    "page_size=8 max_len=99 lengths=ragged seed=3");
    struct instance a, b, fresh;
    ck_assert_int_eq(config_instantiate(&config, 0, &a), 0);
    ck_assert_int_eq(config_instantiate(&config, 0, &b), 0);
    ck_assert_int_eq(config_instantiate(&config, 1, &fresh), 0);
    const size_t entries = (size_t)instance_tensor_count(&a.tensor[2]);
    ck_assert_mem_eq(a.tensor[2].fill.given, b.tensor[2].fill.given, entries * sizeof(int32_t));
    ck_assert_mem_ne(a.tensor[2].fill.given, fresh.tensor[2].fill.given, entries * sizeof(int32_t));
    ck_assert_mem_eq(a.extent, fresh.extent, sizeof a.extent);
    ck_assert(instance_total_bytes(config.problem, &a) > 0);
    instance_clear(&a);
    instance_clear(&b);
    instance_clear(&fresh);
}
END_TEST

static TCase *case_contracts(void)
{
    TCase *tests = tcase_create("contracts");
    tcase_add_test(tests, a_contract_is_read_as_written);
    tcase_add_loop_test(tests, a_bad_contract_line_is_named_with_file_and_line, 0,
                        sizeof bad_lines / sizeof *bad_lines);
    tcase_add_test(tests, an_unreadable_contract_is_an_error);
    tcase_add_test(tests, a_limit_too_long_or_too_many_is_an_error);
    tcase_add_loop_test(tests, a_limit_means_what_arithmetic_says, 0, sizeof limits / sizeof *limits);
    tcase_add_test(tests, a_point_outside_the_contract_is_told_why);
    tcase_add_test(tests, a_line_reads_back_as_it_was_written);
    tcase_add_loop_test(tests, a_bad_configuration_line_is_told_why, 0,
                        sizeof bad_configs / sizeof *bad_configs);
    return tests;
}

static TCase *case_streams(void)
{
    TCase *tests = tcase_create("streams");
    tcase_add_test(tests, a_stream_is_its_seed_and_purpose);
    tcase_add_test(tests, a_stream_never_changes);
    tcase_add_test(tests, numbers_below_a_bound_are_uniform);
    tcase_add_test(tests, an_instance_comes_from_its_line_alone);
    return tests;
}

Suite *gen_suite(void)
{
    Suite *suite = suite_create("gen");
    suite_add_tcase(suite, case_streams());
    suite_add_tcase(suite, case_contracts());
    suite_add_tcase(suite, gen_list_case());
    suite_add_tcase(suite, gen_draw_case());
    suite_add_tcase(suite, gen_contract_case());
    suite_add_tcase(suite, gen_cover_case());
    suite_add_tcase(suite, gen_novelty_case());
    suite_add_tcase(suite, gen_order_case());
    suite_add_tcase(suite, gen_parts_case());
    suite_add_tcase(suite, gen_scouts_case());
    suite_add_tcase(suite, gen_directed_case());
    suite_add_tcase(suite, gen_pairs_case());
    return suite;
}
