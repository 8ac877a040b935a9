/* Faulty candidates: files, compilers, symbols, and misbehaviour. */
#include "cli.h"
#include "skip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

START_TEST(a_candidate_that_is_missing_or_no_file_is_refused)
{
    CLI("verify", "softmax", "missing.c", TINY);
    cli_expect_error(2, "there is no file missing.c", "expected a .c, .cpp, .cu, .so, .py or .json file",
                     "check the path");
    CLI("verify", "softmax", ".", TINY);
    cli_expect_error(2, ". is a directory without a .py file",
                     "expected one .c, .cpp, .cu, .so, .py or .json file", "name the file");
    CLI("verify", "softmax", "-", TINY);
    cli_expect_error(2, "the candidate is '-'", "expected a file", "write standard input to a file");
    cli_put("kernel.txt", "");
    CLI("verify", "softmax", "kernel.txt", TINY);
    cli_expect_error(2, "kernel.txt has none of the suffixes",
                     ".c, .cpp, .cc, .cxx (host), .cu (CUDA), .so (built)", "rename it");
    CLI("verify", "softmax", cli_repository("problems/softmax/baseline.cu"), TINY);
    cli_expect_error(2, "is a CUDA candidate", "the device is the host", "--device cuda");
}
END_TEST

START_TEST(a_candidate_that_may_not_be_read_is_refused)
{
    if (geteuid() == 0)
        SKIP_TEST("root reads every file");
    cli_put_kernel("secret.c", "", "0");
    ck_assert_int_eq(chmod("secret.c", 0), 0);
    CLI("verify", "softmax", "secret.c", TINY);
    cli_expect_error(2, "cannot read secret.c", "Permission denied", "chmod +r");
}
END_TEST

START_TEST(what_does_not_compile_shows_the_first_errors_and_keeps_the_log)
{
    cli_put_kernel("bad.c", "undeclared_one();\n return undeclared_two", "0");
    CLI("verify", "softmax", "bad.c", TINY, "--json", "r.json");
    cli_expect_error(2, "bad.c does not compile", "error: ", "unseen-build.log");
    ck_assert(strstr(cli.err, "undeclared_two") != NULL);
    ck_assert_int_eq(access("unseen-build.log", R_OK), 0);
    ck_assert_msg(access("r.json", F_OK) != 0, "a result of a run that never was");
}
END_TEST

START_TEST(without_a_compiler_it_is_the_environments_fault)
{
    cli_put_kernel("right.c", "", "0");
    ck_assert_int_eq(mkdir("empty", 0755), 0);
    setenv("PATH", "empty", 1);
    CLI("verify", "softmax", "right.c", TINY);
    cli_expect_error(3, "cannot run cc", "No such file", "install cc");
}
END_TEST

START_TEST(a_missing_symbol_is_refused_and_so_is_a_variable)
{
    cli_put("other.c", "int sofmax(void) { return 0; }\n");
    CLI("verify", "softmax", "other.c", TINY, "--unseen", "2", "--json", "r.json");
    cli_expect_error(2, "exports no function 'softmax'", "define it, not static",
                     "describe softmax --header");
    cli_expect_without("extern");
    json_t *result = cli_json("r.json");
    ck_assert_str_eq(json_string_value(json_object_get(result, "verdict")), "broken");
    ck_assert(json_is_true(json_object_get(result, "partial")));
    ck_assert(strstr(json_string_value(json_object_get(result, "partial_reason")), "softmax") != NULL);
    json_decref(result);
    cli_put("data.c", "int softmax = 3;\n");
    CLI("verify", "softmax", "data.c", TINY, "--unseen", "2");
    cli_expect_error(2, "exports 'softmax' as a variable", "expected a function",
                     "describe softmax --header");
    CLI("check", "softmax", "data.c", "rows=1 cols=1", "--device", "host");
    cli_expect_error(2, "exports 'softmax' as a variable", "expected a function",
                     "describe softmax --header");
}
END_TEST

START_TEST(a_shared_object_that_is_none_is_refused)
{
    cli_put("text.so", "not an object\n");
    CLI("verify", "softmax", "text.so", TINY, "--unseen", "2");
    ck_assert_int_eq(cli.status, 2);
    ck_assert(strstr(cli.err, "does not begin as an ELF file does") != NULL);
}
END_TEST

START_TEST(a_candidate_that_dies_while_it_is_loaded_is_broken)
{
    cli_put("ctor.c", "#include <stdlib.h>\n"
                      "__attribute__((constructor)) static void begin(void) { abort(); }\n"
                      "int softmax(void) { return 0; }\n");
    CLI("verify", "softmax", "ctor.c", TINY, "--unseen", "9");
    cli_expect(1, "while it was being loaded: killed by signal 6");
    cli_expect(1, "broken: ");
    cli_expect(1, "not run: 4 configurations before it");
}
END_TEST

START_TEST(a_candidate_that_prints_without_end_harms_nobody)
{
    cli_put_kernel("print.c",
                   "if (rows == 8) for (;;) puts(\"words words words\");\n"
                   "for (int i = 0; i < 20000; i++) puts(\"more words\");",
                   "0");
    CLI("verify", "softmax", "print.c", TINY, "--unseen", "0", "--timeout", "1", "-v", "--no-explain",
        "--json", "r.json");
    cli_expect(1, "no answer within 1 s");
    cli_expect_without("words");
    json_t *result = cli_json("r.json");
    ck_assert_int_eq(cli_count(result, "seen", "timeout"), 1);
    ck_assert_int_eq(cli_count(result, "seen", "pass"), 1);
    json_decref(result);
}
END_TEST

START_TEST(check_shows_what_a_candidate_prints_when_asked_to)
{
    cli_put_kernel("print.c", "printf(\"rows is %d \\033[31m\\n\", (int)rows);", "0");
    CLI("check", "softmax", "print.c", "rows=3 cols=5", "--device", "host");
    cli_expect(0, "pass: rows=3 cols=5");
    cli_expect_without("rows is 3");
    CLI("check", "softmax", "print.c", "rows=3 cols=5", "--device", "host", "-v");
    cli_expect(0, "printed    rows is 3");
    cli_expect_without("\033");
}
END_TEST

START_TEST(a_configuration_beyond_the_memory_is_skipped_and_the_verdict_inconclusive)
{
    cli_put("huge.seen", "rows=65536 cols=1048576\nrows=2 cols=3\n");
    cli_put_kernel("right.c", "", "0");
    CLI("verify", "softmax", "right.c", "--device", "host", "--seen", "huge.seen", "--unseen", "0",
        "--no-timing", "--json", "r.json");
    cli_expect(1, "inconclusive: 1 of 2 seen configurations could not be judged");
    cli_expect(1, "needs 1374.5 GB of main memory");
    json_t *result = cli_json("r.json");
    ck_assert_int_eq(cli_count(result, "seen", "skipped"), 1);
    ck_assert_int_eq(cli_count(result, "seen", "pass"), 1);
    json_decref(result);
    CLI("check", "softmax", "right.c", "rows=65536 cols=1048576", "--device", "host");
    cli_expect(1, "skipped: rows=65536");
}
END_TEST

/* A row of zeros and subnormals is as long as eps lets it be, so that a flushed one comes out a thousand
 * times as long. */
START_TEST(who_flushes_subnormals_is_right)
{
    for (int seed = 1; seed <= 3; seed++) {
        char config[80];
        snprintf(config, sizeof config, "rows=40 cols=7 eps=published input=special seed=%d", seed);
        CLI("check", "rms_norm", cli_repository("problems/rms_norm/honest/flushes.c"), config, "--device",
            "host");
        cli_expect(0, "pass: rows=40 cols=7");
    }
}
END_TEST

/* Like a race, by as much as the error of tf32. */
START_TEST(of_what_differs_from_call_to_call_no_arithmetic_is_told)
{
    cli_put(
        "race.c",
        "#include <stdint.h>\n"
        "int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t t, "
        "void *s)\n"
        "{\n    static unsigned calls;\n    const float off = ++calls * 2654435761u % 3 ? 1 : 1 + 0x1p-11f;\n"
        "    for (int64_t i = 0; i < m * n; i++) {\n        double sum = 0;\n"
        "        for (int64_t p = 0; p < k; p++)\n"
        "            sum += (double)a[i / n * k + p] * b[t ? i % n * k + p : p * n + i % n];\n"
        "        c[i] = (float)sum * off;\n    }\n    return s != 0;\n}\n");
    cli_put("one.seen", "m=40 n=30 k=70 trans_b=0 seed=1\n");
    CLI("verify", "-v", "gemm_f32", "race.c", "--device", "host", "--seen", "one.seen", "--unseen", "4",
        "--seed", "3", "--no-timing", "--no-explain");
    cli_expect(1, "\n  unstable ");
    cli_expect(1, "could not be determined; the problem allows ");
    cli_expect_without("SILENT DOWNGRADE");
}
END_TEST

/* Each slip, and the intended name. */
static const struct {
    const char *words[5];
    const char *meant;
} slips[] = {
    {{"vefiry"}, "unknown command 'vefiry' (did you mean 'verify'?)"},
    {{"comp"}, "unknown command 'comp' (did you mean 'compare'?)"},
    {{"describe", "layernorm"}, "unknown problem 'layernorm' (did you mean 'layer_norm'?)"},
    {{"describe", "softmax", "--haeder"}, "unknown option '--haeder' (did you mean '--header'?)"},
    {{"draw", "softmax", "--effort", "quikc"}, "--effort 'quikc' (did you mean 'quick'?)"},
    {{"check", "softmax", "k.c", "row=3 cols=4"}, "unknown axis 'row' (did you mean 'rows'?)"},
    {{"check", "softmax", "k.c", "rows=3 cols=4 input=wdie"}, "input=wdie (did you mean 'wide'?)"},
    {{"verify", "softmax", "k.c", "--reward", "pasrate"}, "--reward 'pasrate' (did you mean 'pass_rate'?)"},
    {{"export", "softmax", "--format", "jsno"}, "--format 'jsno' (did you mean 'json'?)"},
    {{"check", "softmax", "k.c", "rows=-3 cols=4"},
     "rows=-3; a whole number was expected, from 0 to 9223372036854775807"},
    {{"check", "softmax", "k.c", "rows=99999999999999999999999 cols=4"}, "from 0 to 9223372036854775807"},
};

START_TEST(a_slip_is_told_with_what_was_meant)
{
    const char *words[6] = {NULL};
    cli_put("k.c", "int softmax(void) { return 0; }\n");
    memcpy(words, slips[_i].words, sizeof slips[_i].words);
    cli_run(words);
    cli_expect_error(2, slips[_i].meant, "", "--->");
}
END_TEST

START_TEST(what_is_like_nothing_suggests_nothing)
{
    CLI("zebra");
    cli_expect_error(2, "unknown command 'zebra'; expected", "list", "--->");
    CLI("describe", "x");
    cli_expect_error(2, "unknown problem 'x'; expected", "softmax", "--->");
}
END_TEST

START_TEST(a_cxx_kernel_is_verified_and_a_mangled_one_told)
{
    cli_put(
        "wrong.cc",
        "#include <cstdint>\nint softmax(const float *, float *, int64_t, int64_t, void *) { return 0; }\n");
    CLI("verify", "softmax", "wrong.cc", TINY, "--unseen", "2");
    cli_expect_error(2, "exports no function 'softmax'", "a C++ function of that name",
                     "declare it extern \"C\"");
    CLI("describe", "softmax", "--header");
    cli_put("softmax.h", cli.out);
    cli_put("right.cpp",
            "#include \"softmax.h\"\n#include \"candidate.h\"\n#include <algorithm>\n"
            "int softmax(const float *, float *, int64_t, int64_t, void *) { return std::min(1, 2); }\n");
    CLI("check", "softmax", "right.cpp", "rows=1 cols=5", "--device", "host");
    cli_expect(1, "returned 1");
}
END_TEST

START_TEST(an_object_that_misses_a_symbol_is_told_without_our_path)
{
    cli_put("k.c", "int absent(void); int softmax(void) { return absent(); }\n");
    CLI("check", "softmax", "k.c", "rows=1 cols=5", "--device", "host");
    cli_expect_error(2, "undefined symbol: absent", "cannot be loaded", "define or link");
    cli_expect_without("candidate.so");
}
END_TEST

/* The verdict of a kept object is that of a compiled one. */
START_TEST(a_kept_object_is_told_and_no_cache_compiles_anew)
{
    static const char *const more[] = {"--quiet", "--quiet", "--no-cache"};
    static const int kept[] = {0, 1, 0};
    cli_put_kernel("right.c", "", "0");
    usleep(50000); /* a file that has just changed is in doubt */
    for (int i = 0; i < 3; i++) {
        CLI("verify", "softmax", "right.c", TINY, "--seed", "1", "--unseen", "2", "--json", "r.json",
            more[i]);
        cli_expect(0, "general");
        json_t *const result = cli_json("r.json");
        const json_t *const told = json_object_get(json_object_get(result, "candidate"), "object_kept");
        ck_assert(kept[i] ? json_is_true(told) : json_is_false(told));
        ck_assert_int_eq(cli_count(result, "unseen", "pass"), 2);
        json_decref(result);
    }
    CLI("verify", "softmax", "right.c", TINY, "--seed", "1", "--unseen", "2", "-v");
    cli_expect(0, "(kept object)");
}
END_TEST

TCase *cli_candidate_case(void)
{
    TCase *candidate = tcase_create("candidate");
    tcase_add_checked_fixture(candidate, cli_setup, cli_teardown);
    tcase_set_timeout(candidate, 60);
    tcase_add_loop_test(candidate, a_slip_is_told_with_what_was_meant, 0, sizeof slips / sizeof *slips);
    tcase_add_test(candidate, what_is_like_nothing_suggests_nothing);
    tcase_add_test(candidate, a_cxx_kernel_is_verified_and_a_mangled_one_told);
    tcase_add_test(candidate, an_object_that_misses_a_symbol_is_told_without_our_path);
    tcase_add_test(candidate, a_candidate_that_is_missing_or_no_file_is_refused);
    tcase_add_test(candidate, a_candidate_that_may_not_be_read_is_refused);
    tcase_add_test(candidate, what_does_not_compile_shows_the_first_errors_and_keeps_the_log);
    tcase_add_test(candidate, without_a_compiler_it_is_the_environments_fault);
    tcase_add_test(candidate, a_missing_symbol_is_refused_and_so_is_a_variable);
    tcase_add_test(candidate, a_shared_object_that_is_none_is_refused);
    tcase_add_test(candidate, a_candidate_that_dies_while_it_is_loaded_is_broken);
    tcase_add_test(candidate, a_candidate_that_prints_without_end_harms_nobody);
    tcase_add_test(candidate, check_shows_what_a_candidate_prints_when_asked_to);
    tcase_add_test(candidate, a_configuration_beyond_the_memory_is_skipped_and_the_verdict_inconclusive);
    tcase_add_test(candidate, who_flushes_subnormals_is_right);
    tcase_add_test(candidate, a_kept_object_is_told_and_no_cache_compiles_anew);
    tcase_add_test(candidate, of_what_differs_from_call_to_call_no_arithmetic_is_told);
    return candidate;
}
