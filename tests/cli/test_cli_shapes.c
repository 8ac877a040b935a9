/* unseen import --shapes: seen sets from shapes that were captured in a running program. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "skip.h"

#define SHAPES(problem, ...) CLI("import", problem, "--shapes", __VA_ARGS__)

static const char *const launch =
    "{\"event_type\": \"launch\", \"name\": \"%s\", \"extracted_args\": {%s}}\n";
#define TENSOR(name, shape, dtype)                                                                           \
    "\"" name "\": {\"type\": \"tensor\", \"shape\": " shape ", \"dtype\": \"" dtype "\"}"

/* An event of a profile: its name, shapes and types. */
struct event {
    const char *name, *dims, *types;
};

static void put_profile(const char *path, const struct event *events, size_t count)
{
    char text[2048] = "{\"traceEvents\": [{\"ph\": \"M\"}";
    for (size_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 ", {\"name\": \"%s\", \"args\": {\"Input Dims\": %s, \"Input type\": %s}}", events[i].name,
                 events[i].dims, events[i].types);
    snprintf(text + strlen(text), sizeof text - strlen(text), "]}");
    cli_put(path, text);
}

static void put_launches(const char *path, const char *const (*rows)[2], size_t count)
{
    char text[4096] = "{\"event_type\": \"compilation\"}\n";
    for (size_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), launch, rows[i][0], rows[i][1]);
    cli_put(path, text);
}

/* Names decide, not the order: the kernel takes its output first. */
START_TEST(launches_of_a_kernel_become_a_set_that_runs)
{
    static const char *const rows[][2] = {
        {"k", TENSOR("y", "[8, 64]", "torch.float32") ", " TENSOR("x", "[8, 64]", "torch.float32")},
        {"k", TENSOR("y", "[4, 256]", "torch.float32") ", " TENSOR("x", "[4, 256]", "torch.float32")},
        {"k", TENSOR("y", "[8, 64]", "torch.float32") ", " TENSOR("x", "[8, 64]", "torch.float32")}};
    put_launches("k.ndjson", rows, 3);
    SHAPES("softmax", "k.ndjson", "--out", "captured.seen");
    ck_assert_int_eq(cli.status, 0);
    cli_put_kernel("right.c", "", "0");
    CLI("verify", "softmax", "right.c", "--device", "host", "--contract", "tiny.space", "--seen",
        "captured.seen", "--unseen", "2", "--seed", "3", "--no-timing", "--json", "r.json");
    ck_assert_int_eq(cli.status, 0);
    json_t *result = json_load_file("r.json", 0, NULL);
    const json_t *const all = json_object_get(result, "results"), *const first = json_array_get(all, 0);
    ck_assert_int_eq(json_integer_value(json_object_get(first, "calls")), 2);
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(first, "config")), "rows=8 cols=64 "));
    ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(all, 1), "calls")), 1);
    ck_assert(json_is_null(json_object_get(json_array_get(all, 2), "calls")));
    json_decref(result);
}
END_TEST

/* Leading dimensions are one, numbers are no tensors, and of a profile only one operation is meant. */
START_TEST(a_profile_is_read_by_its_operation)
{
    static const struct event events[] = {
        {"aten::softmax", "[[2, 3, 64], [], []]", "[\"float\", \"Scalar\", \"\"]"},
        {"aten::relu", "[[2, 3]]", "[\"float\"]"},
        {"aten::softmax", "[[6, 64], []]", "[\"float\", \"Scalar\"]"},
        {"aten::softmax", "[[6, 64]]", "[\"double\"]"},
        {"other", "[]", "[]"}};
    put_profile("p.json", events, 5);
    SHAPES("softmax", "p.json");
    cli_expect_error(2, "shapes of 2 operations fit: aten::softmax, aten::relu", "expected those of one",
                     "--op NAME");
    SHAPES("softmax", "p.json", "--op", "aten::softmax");
    cli_expect(1, "# softmax: from a trace of torch.profiler\nrows=6 cols=64 input=normal  # calls=2\n");
    ck_assert_ptr_nonnull(
        strstr(cli.err, "event 5: x is float64; float32 is expected (1 row, 1 call)\n1 configuration from"));
    SHAPES("softmax", "p.json", "--op", "aten::mm");
    cli_expect_error(2, "no row of aten::mm fits softmax", "expected at least one", "--contract");
}
END_TEST

/* Extents that several sizes share are solved one after another, and a layout is chosen by what fits. */
START_TEST(sizes_are_solved_from_the_extents_of_all_tensors)
{
    static const struct {
        const char *dims, *line;
    } layouts[] = {
        {"[[5, 9], [9, 4]]", "m=5 n=4 k=9 trans_b=0 "},
        {"[[5, 9], [4, 9]]", "m=5 n=4 k=9 trans_b=1 "},
        {"[[2, 3, 9], [9, 9]]", "m=6 n=9 k=9 trans_b=0 "},
        {"[[5, 9], [8, 4]]", NULL},
    };
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        put_profile("mm.json", &(const struct event){"mm", layouts[i].dims, "[\"float\", \"float\"]"}, 1);
        SHAPES("gemm_f32", "mm.json");
        if (layouts[i].line)
            cli_expect(0, layouts[i].line);
    }
    cli_expect_error(2, "the shape of b does not go with the others", "expected at least one", "describe");
    put_profile("mm.json",
                &(const struct event){"mm", "[[4611686018427387904, 64, 9], [9, 4]]", "[\"float\"]"}, 1);
    SHAPES("gemm_f32", "mm.json");
    cli_expect_error(2, "m=9223372036854775807 lies outside the contract", "expected at least one",
                     "describe");
}
END_TEST

START_TEST(captures_of_modules_keep_their_counts)
{
    cli_put(
        "fk.json",
        "{\"model\": \"m\", \"operators\": {\"ops:Norm\": {\"init\": {\"calls\": 1, \"variants\": []}, "
        "\"forward\": {\"calls\": 12, \"variants\": [{\"count\": 9, \"args\": {" TENSOR(
            "x", "[4, 16, 128]",
            "bfloat16") ", \"residual\": null}}, {\"count\": 3, \"args\": {" TENSOR("x", "[7, 256]",
                                                                                    "bfloat16") "}}]}}}}");
    SHAPES("rms_norm", "fk.json");
    cli_expect(0, "\nrows=64 cols=128 eps=published input=normal  # calls=9\nrows=7 cols=256 ");
    SHAPES("softmax", "fk.json");
    cli_expect_error(2, "variant 1: x is bfloat16; float32 is expected (2 rows, 12 calls)",
                     "fits softmax; expected at least", "widen the contract");
}
END_TEST

START_TEST(workloads_give_sizes_and_names)
{
    static const char *const first = "{\"definition\": \"softmax\", \"workload\": {\"axes\": {\"rows\": 4, "
                                     "\"cols\": 99}, \"inputs\": {}, \"uuid\": \"6f-1\"}}\n\n";
    static const char *const second = "{\"axes\": {\"rows\": 0, \"cols\": 3}, \"inputs\": {}}\n";
    char text[600];
    snprintf(text, sizeof text, "%s%s", first, second);
    cli_put("w.jsonl", text);
    SHAPES("softmax", "w.jsonl");
    cli_expect(0, "\nrows=4 cols=99 input=normal  # workload=6f-1 calls=1\n");
    snprintf(text, sizeof text, "%s{\"definition\": \"softmax\", \"workload\": %.*s}\n", first,
             (int)strlen(second) - 1, second);
    cli_put("w.jsonl", text);
    SHAPES("softmax", "w.jsonl");
    cli_expect(1, "6f-1 calls=1\n");
    cli_put("w.jsonl", "{\"axes\": {\"rows\": 0, \"cols\": 3}}\n{\"axes\": {\"rows\": 4}}\n"
                       "{\"axes\": {\"rows\": 4, \"depth\": 3}}\n");
    SHAPES("softmax", "w.jsonl");
    cli_expect_error(2, "line 1: rows=0 lies outside the contract", "line 2: its shapes do not say cols",
                     "--contract");
    ck_assert_ptr_nonnull(strstr(cli.err, "line 3: depth is no size of softmax (1 row, 1 call)"));
}
END_TEST

/* An operation has each weight behind its inputs; the task has them packed in one tensor. */
START_TEST(a_task_s_packed_weights_are_no_argument)
{
    static const struct event events[] = {
        {"aten::layer_norm", "[[2, 3, 40], [], [40], [40]]", "[\"float\", \"\", \"float\", \"float\"]"},
        {"Affine", "[[7, 24]]", "[\"float\"]"}};
    const char *const task = cli_repository("tests/python/tasks/affine.py"), *const python = cli_torch();
    if (!python)
        SKIP_TEST("no interpreter with torch");
    put_profile("p.json", events, 2);
    SHAPES(task, "p.json", "--python", python, "--op", "aten::layer_norm");
    cli_expect(0, "\nlines=6 width=40 input=published  # calls=1\n");
    SHAPES(task, "p.json", "--python", python, "--op", "Affine");
    cli_expect(0, "\nlines=7 width=24 input=published  # calls=1\n");
}
END_TEST

START_TEST(other_files_are_refused)
{
    static const char *const files[][2] = {{"", "no captured shape"},
                                           {"rows=3 cols=4\n", "'[' or '{' expected"},
                                           {"{\"axes\": 3}\n", "a line of another form"},
                                           {"{\"traceEvents\": []}", "no captured shape"},
                                           {"{\"traceEvents\": 7}", "a document of another form"},
                                           {"{\"operators\": []}", "a document of another form"},
                                           {"{\"axes\": {\"rows\"", "expected"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        cli_put("bad.json", files[i][0]);
        SHAPES("softmax", "bad.json");
        cli_expect_error(2, files[i][1], "expected captures of FastKernels", "give such a file");
    }
    SHAPES("softmax", "/no/such");
    cli_expect_error(2, "/no/such: cannot be read", "expected a file of captured shapes", "check the path");
    SHAPES("softmaxx", "bad.json");
    ck_assert_int_eq(cli.status, 2);
}
END_TEST

TCase *cli_shapes_case(void)
{
    TCase *tests = tcase_create("shapes");
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_set_timeout(tests, 120); /* importing a task */
    tcase_add_test(tests, launches_of_a_kernel_become_a_set_that_runs);
    tcase_add_test(tests, a_profile_is_read_by_its_operation);
    tcase_add_test(tests, sizes_are_solved_from_the_extents_of_all_tensors);
    tcase_add_test(tests, captures_of_modules_keep_their_counts);
    tcase_add_test(tests, workloads_give_sizes_and_names);
    tcase_add_test(tests, a_task_s_packed_weights_are_no_argument);
    tcase_add_test(tests, other_files_are_refused);
    return tests;
}
