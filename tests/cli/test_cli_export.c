/* unseen export: a drawn set for other programs. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT(...)                                                                                          \
    CLI("export", "softmax", "--device", "host", "--contract", "tiny.space", "--seen", "tiny.seen",          \
        "--seed", "7", "--unseen", "6", __VA_ARGS__)

static const json_t *at(const json_t *json, size_t i)
{
    return json_array_get(json_object_get(json, "configurations"), i);
}

static const char *text_of(const json_t *json, const char *key)
{
    return json_string_value(json_object_get(json, key));
}

START_TEST(json_has_the_sets_that_a_run_draws)
{
    static const char *const why = "  # unseen: ";
    CLI("draw", "softmax", "--device", "host", "--contract", "tiny.space", "--seed", "7", "--unseen", "6");
    char *drawn = strdup(cli.out);
    CLI("export", "softmax", "--device", "host", "--contract", "tiny.space", "--seed", "7", "--unseen", "6",
        "--format", "json", "--out", "set.json");
    cli_expect(0, "");
    json_t *json = cli_json("set.json");
    const size_t count = json_array_size(json_object_get(json, "configurations"));
    size_t unseen = 0;
    for (size_t i = 0; i < count; i++) {
        char line[400];
        if (strcmp(text_of(at(json, i), "set"), "seen") == 0)
            continue;
        snprintf(line, sizeof line, "%s%s%s\n", text_of(at(json, i), "line"), why,
                 text_of(at(json, i), "why"));
        ck_assert_msg(strstr(drawn, line) != NULL, "%s is not in:\n%s", line, drawn);
        unseen++;
    }
    ck_assert_uint_eq(unseen, 6);
    json_decref(json);
    free(drawn);
}
END_TEST

START_TEST(each_configuration_says_what_its_tensors_are)
{
    EXPORT("--format", "json");
    cli_expect(0, "\"commitment\": \"");
    json_t *json = json_loads(cli.out, 0, NULL);
    ck_assert_ptr_nonnull(json);
    const json_t *first = at(json, 0), *x = json_array_get(json_object_get(first, "tensors"), 0);
    ck_assert_str_eq(text_of(first, "set"), "seen");
    ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(first, "values"), "cols")), 256);
    ck_assert_str_eq(text_of(json_object_get(first, "values"), "input"), "normal");
    ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(first, "arguments"), "rows")), 4);
    ck_assert_str_eq(text_of(x, "name"), "x");
    ck_assert_str_eq(text_of(x, "dtype"), "f32");
    ck_assert_str_eq(text_of(x, "role"), "input");
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(x, "shape"), 1)), 256);
    ck_assert_ptr_null(json_object_get(x, "file"));
    json_decref(json);
    EXPORT("--format", "json", "--seen-only");
    json = json_loads(cli.out, 0, NULL);
    ck_assert_uint_eq(json_array_size(json_object_get(json, "configurations")), 2);
    ck_assert(json_is_null(json_object_get(json, "commitment")));
    json_decref(json);
}
END_TEST

START_TEST(python_reads_the_module_and_the_inputs)
{
    static const char program[] =
        "import ast, struct, set as s\n"
        "assert s.PROBLEM == 'softmax' and s.SEED == 7 and len(s.CONFIGURATIONS) == 8 and s.INPUTS_AS == "
        "'npy'\n"
        "for c in s.CONFIGURATIONS:\n"
        "    assert dict(p.split('=') for p in c['line'].split()) == {**{k: str(v) for k, v in "
        "c['values'].items()}, 'seed': str(c['seed'])}\n"
        "    x = c['tensors'][0]\n"
        "    data = open(s.INPUTS + '/' + x['file'], 'rb').read()\n"
        "    assert data[:8] == b'\\x93NUMPY\\x01\\x00'\n"
        "    n = struct.unpack('<H', data[8:10])[0]\n"
        "    head = ast.literal_eval(data[10:10 + n].decode())\n"
        "    assert (10 + n) % 64 == 0 and head['descr'] == '<f4' and not head['fortran_order']\n"
        "    assert list(head['shape']) == x['shape'] == [c['values']['rows'], c['values']['cols']]\n"
        "    values = struct.unpack('<%df' % (x['shape'][0] * x['shape'][1]), data[10 + n:])\n"
        "    assert len(set(values)) > 1 or len(values) == 1\n"
        "print('read')\n";
    EXPORT("--format", "python", "--out", "set.py", "--inputs", "inputs");
    cli_expect(0, "");
    cli_put("reader.py", program);
    ck_assert_int_eq(system("python3 -B reader.py >reader.txt 2>&1 && grep -q read reader.txt"), 0);
}
END_TEST

/* The first draw, which the first call gets. */
START_TEST(inputs_are_those_of_a_run)
{
    cli_put("print.c", "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n"
                       "int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)\n"
                       "{\n    uint64_t sum = 0;\n    (void)y, (void)stream;\n"
                       "    for (int64_t i = 0; i < rows * cols; i++) {\n        uint32_t u;\n"
                       "        memcpy(&u, &x[i], 4);\n        sum = sum * 31 + u;\n    }\n"
                       "    printf(\"sum %llu\\n\", (unsigned long long)sum);\n    return 0;\n}\n");
    static const char program[] = "import json, struct\ns = json.load(open('set.json'))\n"
                                  "c = s['configurations'][0]\nopen('line', 'w').write(c['line'])\n"
                                  "d = open('inputs/' + c['tensors'][0]['file'], 'rb').read()\n"
                                  "n = 10 + struct.unpack('<H', d[8:10])[0]\nh = 0\n"
                                  "for (u,) in struct.iter_unpack('<I', d[n:]):\n"
                                  "    h = (h * 31 + u) % 2 ** 64\nopen('sum', 'w').write('sum %d' % h)\n";
    char line[200] = "", sum[64] = "";
    EXPORT("--format", "json", "--out", "set.json", "--inputs", "inputs");
    cli_put("sum.py", program);
    ck_assert_int_eq(system("python3 sum.py"), 0);
    FILE *in = fopen("line", "re"), *other = fopen("sum", "re");
    ck_assert(fgets(line, sizeof line, in) && fgets(sum, sizeof sum, other));
    fclose(in);
    fclose(other);
    CLI("check", "softmax", "print.c", line, "--device", "host", "-v");
    const char *const first = strstr(cli.out, "sum "); /* later calls have other contents */
    ck_assert_ptr_nonnull(first);
    ck_assert_msg(strncmp(first, sum, strlen(sum)) == 0 && strchr("\r\n", first[strlen(sum)]),
                  "%s is not the first of:\n%s", sum, cli.out);
}
END_TEST

START_TEST(formats_that_numpy_lacks_are_stored_as_bits)
{
    CLI("export", "gemm_fp8", "--device", "host", "--seed", "3", "--unseen", "1", "--seen-only", "--format",
        "json", "--inputs", "inputs");
    cli_expect(0, "\"dtype\": \"e4m3\"");
    cli_expect(0, "\"stored\": \"|u1\"");
    CLI("export", "gemm_bf16", "--device", "host", "--seed", "3", "--seen-only", "--format", "json",
        "--inputs", "others");
    cli_expect(0, "\"stored\": \"<u2\"");
}
END_TEST

START_TEST(benchmarks_get_their_own_words)
{
    EXPORT("--format", "gpumode");
    cli_expect(0, "rows: 4; cols: 256; input: normal; seed: ");
    EXPORT("--format", "flashinfer");
    cli_expect(0, "{\"definition\":\"softmax\",\"workload\":{\"uuid\":\"");
    cli_expect(0, "\"axes\":{\"rows\":4,\"cols\":256},\"inputs\":{\"x\":{\"type\":\"random\"}}}");
    EXPORT("--format", "csv");
    cli_expect(
        0, "set,line,why,seed,rows,cols,input,tensor x,tensor y\nseen,rows=4 cols=256 input=normal seed=");
    cli_expect(0, ",4,256,normal,\"f32[4,256]\",\"f32[4,256]\"\n");
    CLI("export", "paged_attention", "--device", "host", "--seed", "1", "--unseen", "3", "--format",
        "gpumode");
    cli_expect(0, "lengths: ragged; ");
}
END_TEST

/* The exported runner performs each action, and again with the held-out cases in place of its own. */
START_TEST(arena_gets_a_runner_and_held_out_cases)
{
    char command[3000];
    cli_put_kernel("right.c", "", "0");
    cli_put_kernel("wrong.c", "", "cols == 256 || cols == 64 ? 0 : 0.25");
    cli_put("torn.c", "int softmax(\n");
    EXPORT("--format", "arena");
    cli_expect_error(2, "--format arena without --out", "expected a new folder", "--out DIRECTORY");
    EXPORT("--format", "arena", "--seen-only", "--out", "arena");
    cli_expect_error(2, "without the unseen set", "expected both sets", "--seen-only");
    EXPORT("--format", "arena", "--out", "arena");
    ck_assert_int_eq(cli.status, 0);
    EXPORT("--format", "arena", "--out", "arena");
    cli_expect_error(2, "--out arena: cannot be made", "expected a new folder", "choose another");
    snprintf(command, sizeof command, "python3 -B %s %s", cli_repository("tests/python/arena_actions.py"),
             cli_repository("build/unseen"));
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(what_is_too_much_or_in_the_way_is_refused)
{
    struct stat status;
    EXPORT("--format", "xml");
    cli_expect_error(2, "--format 'xml'", "expected one of json, csv, python, flashinfer, gpumode, arena",
                     "--format json");
    EXPORT("--out", "x");
    cli_expect_error(2, "--format ''", "expected one of", "--format json");
    CLI("export", "softmax", "--device", "host", "--seed", "1", "--unseen", "9", "--format", "json",
        "--inputs", "inputs", "--size", "1M");
    cli_expect_error(2, "the inputs of these configurations are", "at most 1 MiB were expected",
                     "--unseen N");
    ck_assert_int_ne(stat("inputs", &status), 0);
    ck_assert_int_eq(mkdir("there", 0755), 0);
    EXPORT("--format", "json", "--inputs", "there");
    cli_expect_error(2, "--inputs there: cannot be made", "a new folder was expected", "remove it");
    ck_assert_str_eq(cli.out, "");
    EXPORT("--format", "json", "--inputs", "nosuch/inputs");
    cli_expect_error(2, "nosuch/inputs", "a new folder was expected", "correct the path");
    cli.file_limit = 2000;
    EXPORT("--format", "gpumode", "--inputs", "full");
    cli_expect_error(3, "cannot be written (File too large)", "nothing is left", "free some room");
    ck_assert_int_ne(stat("full", &status), 0);
    EXPORT("--format", "json", "--out", "nosuch/set.json");
    cli_expect_error(3, "nosuch/set.json: cannot write the configurations", "No such file", "---> ");
}
END_TEST

/* --- verify --unseen-set --- */

START_TEST(a_given_set_is_run_to_the_letter)
{
    cli_put("given.set", "\xef\xbb\xbf# mine\r\nrows=3 cols=99 input=wide seed=5\r\n\r\nrows=1 cols=1\r\n");
    cli_put_kernel("odd.c", "", "cols == 99 ? 0.25 : 0");
    CLI("verify", "-v", "softmax", "odd.c", TINY, "--unseen-set", "given.set", "--seed", "3", "--no-explain",
        "--json", "r.json");
    cli_expect(1, "specialized: ");
    cli_expect(1, "2 seen configurations, and 2 unseen ones that were given and not drawn");
    cli_expect(1, "the unseen set came from given.set and was not drawn");
    json_t *json = cli_json("r.json");
    const json_t *results = json_object_get(json, "results");
    ck_assert_uint_eq(json_array_size(results), 4);
    ck_assert_str_eq(text_of(json_array_get(results, 2), "config"), "rows=3 cols=99 input=wide seed=5");
    ck_assert_str_eq(text_of(json_array_get(results, 2), "outcome"), "wrong");
    ck_assert_str_eq(text_of(json_array_get(results, 3), "why"), "given");
    ck_assert_str_eq(text_of(json, "effort"), "given");
    ck_assert_str_eq(text_of(json, "unseen_given"), "given.set");
    json_t *commitment = json_incref(json_object_get(json, "commitment"));
    json_decref(json);
    CLI("verify", "softmax", "odd.c", TINY, "--unseen", "2", "--seed", "3", "--no-explain", "--json",
        "r.json");
    json = cli_json("r.json");
    ck_assert(json_is_null(json_object_get(json, "unseen_given")));
    ck_assert_str_ne(text_of(json, "commitment"), json_string_value(commitment));
    json_decref(json);
    json_decref(commitment);
}
END_TEST

/* Another run may take the draws of one run: the commitment is over the lines alone. */
START_TEST(a_drawn_set_that_is_given_has_its_commitment)
{
    char command[1600];
    CLI("draw", "softmax", "--device", "host", "--contract", "tiny.space", "--seed", "7", "--unseen", "4");
    char *said = strstr(cli.err, "commitment ");
    ck_assert_ptr_nonnull(said);
    said[strcspn(said, "\n")] = '\0';
    snprintf(command, sizeof command, "%s", said + strlen("commitment "));
    cli_put("given.set", cli.out);
    cli_put_kernel("right.c", "", "0");
    CLI("verify", "-v", "softmax", "right.c", TINY, "--unseen-set", "given.set");
    cli_expect(0, command);
}
END_TEST

START_TEST(what_no_unseen_set_may_hold_is_refused)
{
    cli_put_kernel("right.c", "", "0");
    cli_put("given.set", "rows=3 cols=99\nrows=8 cols=64 input=normal seed=4\n");
    CLI("verify", "softmax", "right.c", TINY, "--unseen-set", "given.set");
    cli_expect_error(2, "given.set:2: this is a configuration of the seen set", "an unseen one was expected",
                     "remove the line");
    cli_put("given.set", "rows=3 cols=99\n\nrows=3 cols=601\n");
    CLI("verify", "softmax", "right.c", TINY, "--unseen-set", "given.set");
    cli_expect_error(2, "given.set:3: cols=601", "in the contract cols is in 1..600", "change the value");
    cli_put("given.set", "rows=3 cols=99 seed=2\nrows=3 cols=99 seed=1\ncols=99 rows=3 seed=2\n");
    CLI("verify", "softmax", "right.c", TINY, "--unseen-set", "given.set");
    cli_expect_error(2, "given.set:3: this line stands further up already", "each configuration once",
                     "remove one of them");
    cli_put("given.set", "# nothing\n");
    CLI("verify", "softmax", "right.c", TINY, "--unseen-set", "given.set");
    cli_expect_error(2, "given.set: no configuration", "were expected", "add some");
    CLI("verify", "softmax", "right.c", TINY, "--unseen-set", "given.set", "--unseen", "4");
    cli_expect_error(2, "--unseen 4 beside --unseen-set", "expected one of them", "leave out --unseen");
    CLI("verify", "softmax", "right.c", TINY, "--unseen-set", "nosuch.set");
    cli_expect_error(2, "nosuch.set: cannot be read", "a readable file was expected", "check the path");
    CLI("verify", "softmax", "right.c", TINY, "--unseen-set", "given.set", "--json", "given.set");
    ck_assert_int_eq(cli.status, 2);
}
END_TEST

/* --- check --json, shrink --json --- */

START_TEST(check_writes_what_verify_writes_of_a_configuration)
{
    cli_put_kernel("bad.c", "", "cols == 99 ? 0.25 : 0");
    cli_put("given.set", "rows=3 cols=99 input=wide seed=5\n");
    CLI("verify", "softmax", "bad.c", TINY, "--unseen-set", "given.set", "--no-explain", "--json", "r.json");
    json_t *run = cli_json("r.json"), *of_run = json_array_get(json_object_get(run, "results"), 2);
    json_object_set_new(of_run, "why", json_string("asked for"));
    CLI("check", "softmax", "bad.c", "rows=3 cols=99 input=wide seed=5", "--device", "host", "--json",
        "c.json");
    cli_expect(1, "wrong: rows=3 cols=99");
    json_t *check = cli_json("c.json"), *of_check = json_object_get(check, "result");
    ck_assert_double_gt(json_number_value(json_object_get(of_run, "seconds")), 0);
    ck_assert_double_gt(json_number_value(json_object_get(of_check, "seconds")), 0);
    json_object_set(of_run, "seconds", json_object_get(of_check, "seconds"));
    ck_assert(json_equal(of_check, of_run));
    ck_assert_str_eq(text_of(check, "command"), "check");
    ck_assert(json_is_false(json_object_get(check, "passes")));
    ck_assert_uint_eq(json_array_size(json_object_get(check, "findings")), 0);
    ck_assert(json_equal(json_object_get(json_object_get(check, "candidate"), "sha256"),
                         json_object_get(json_object_get(run, "candidate"), "sha256")));
    json_decref(check);
    json_decref(run);
    CLI("check", "softmax", "bad.c", "rows=3 cols=98", "--device", "host", "--json", "-");
    ck_assert_int_eq(cli.status, 0);
    check = json_loads(cli.out, 0, NULL); /* alone */
    ck_assert_ptr_nonnull(check);
    ck_assert(json_is_true(json_object_get(check, "passes")));
    ck_assert_ptr_nonnull(strstr(cli.err, "pass: rows=3 cols=98"));
    json_decref(check);
}
END_TEST

START_TEST(shrink_writes_the_simplest_failure_and_its_pattern)
{
    cli_put_kernel("bad.c", "", "c == 30 ? 0.25 : 0");
    CLI("shrink", "softmax", "bad.c", "rows=7 cols=99 input=wide seed=5", "--device", "host", "--json", "-");
    ck_assert_int_eq(cli.status, 1);
    json_t *json = json_loads(cli.out, 0, NULL);
    ck_assert_msg(json != NULL, "no document in: %s", cli.out);
    ck_assert_str_eq(text_of(json, "command"), "shrink");
    ck_assert_str_eq(text_of(json, "from"), "rows=7 cols=99 input=wide seed=5");
    const json_t *minimal = json_object_get(json, "minimal");
    ck_assert_int_eq(strncmp(text_of(minimal, "config"), "rows=1 cols=31 ", 15), 0);
    ck_assert_str_eq(text_of(minimal, "outcome"), "wrong");
    ck_assert(json_is_true(json_object_get(json, "locally_minimal")));
    ck_assert_int_gt(json_integer_value(json_object_get(json, "runs")), 3);
    ck_assert_ptr_nonnull(strstr(text_of(json, "pattern"), "the last"));
    ck_assert_ptr_nonnull(strstr(cli.err, "  shrunk "));
    json_decref(json);
}
END_TEST

START_TEST(a_document_that_cannot_be_written_is_told)
{
    cli_put_kernel("right.c", "", "0");
    CLI("check", "softmax", "right.c", "rows=3 cols=9", "--device", "host", "--json", "nosuch/c.json");
    cli_expect_error(3, "nosuch/c.json: cannot write the report", "No such file", "create the directory");
    CLI("check", "softmax", "right.c", "rows=3 cols=9", "--device", "host", "--json", "right.c");
    cli_expect_error(2, "right.c is the candidate", "expected a file of its own", "another path");
}
END_TEST

TCase *cli_export_case(void)
{
    TCase *tests = tcase_create("export");
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, json_has_the_sets_that_a_run_draws);
    tcase_add_test(tests, each_configuration_says_what_its_tensors_are);
    tcase_add_test(tests, python_reads_the_module_and_the_inputs);
    tcase_add_test(tests, inputs_are_those_of_a_run);
    tcase_add_test(tests, formats_that_numpy_lacks_are_stored_as_bits);
    tcase_add_test(tests, benchmarks_get_their_own_words);
    tcase_add_test(tests, arena_gets_a_runner_and_held_out_cases);
    tcase_add_test(tests, what_is_too_much_or_in_the_way_is_refused);
    tcase_add_test(tests, a_given_set_is_run_to_the_letter);
    tcase_add_test(tests, a_drawn_set_that_is_given_has_its_commitment);
    tcase_add_test(tests, what_no_unseen_set_may_hold_is_refused);
    tcase_add_test(tests, check_writes_what_verify_writes_of_a_configuration);
    tcase_add_test(tests, shrink_writes_the_simplest_failure_and_its_pattern);
    tcase_add_test(tests, a_document_that_cannot_be_written_is_told);
    return tests;
}
