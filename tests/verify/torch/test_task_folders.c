/* Files of importing, cut off, changed or renamed: without an interpreter, except for its tests in Python.
 * Its suite `importing` is apart from `task`, so that two processes share the tests of tasks. */
#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "share.h"
#include "suites.h"

/* A copy of tests/task/row_scale called `name`, of whose .task only `kept` hundredths are left. */
static void copy_task(const char *name, int kept)
{
    static const char *const endings[] = {"row_scale.task", "row_scale.space", "row_scale.seen", "source.py"};
    ck_assert_int_eq(mkdir(name, 0755), 0);
    for (int i = 0; i < 4; i++) {
        char from[300], to[300];
        snprintf(from, sizeof from, "tests/task/row_scale/%s", endings[i]);
        snprintf(to, sizeof to, "%s/%s", name, endings[i]);
        char *text = cli_text(cli_repository(from));
        if (i == 0)
            text[strlen(text) * (size_t)kept / 100] = '\0';
        cli_put(to, text);
    }
}

START_TEST(a_description_that_is_cut_off_is_refused)
{
    static const int kept[] = {0, 1, 30, 60, 99};
    copy_task("row_scale", kept[_i]);
    CLI("describe", "./row_scale");
    cli_expect_error(2, "row_scale.task: line ", "a JSON object was expected", "import the task again");
}
END_TEST

static const struct {
    const char *from, *to, *found, *expected;
} changes[] = {
    {"\"task\": 1,", "\"task\": 2,", "its format is not known: \"task\" is not 1", "1 was expected"},
    {"\"task\": 1,", "", "its format is not known", "1 was expected"},
    {"\"outputs\": [", "\"outputs\": [], \"x\": [", "there is no output", "one at least was expected"},
    {"\"inputs\": [", "\"inputs\": 3, \"y\": [", "\"inputs\" is missing or no list", "a list was expected"},
    {"\"dtype\": \"float32\"", "\"dtype\": \"complex64\"", "the dtype 'complex64'", "another one"},
    {"\"task\": 1,", "\"task\": 1, \"tolerance\": {\"float32\": \"wide\"},",
     "no number from 0 on for float32", "one was expected"},
    {"\"task\": 1,", "\"task\": 1, \"tolerance\": {\"float32\": -1},", "no number from 0 on for float32",
     "one was expected"},
    {"\"classes\": [", "\"classes\": [], \"z\": [", "there is no input class", "one at least was expected"},
};

START_TEST(a_description_that_says_something_else_is_refused)
{
    char changed[1 << 16];
    copy_task("row_scale", 100);
    const char *const text = cli_text("row_scale/row_scale.task");
    const char *const at = strstr(text, changes[_i].from);
    ck_assert_msg(at != NULL, "no %s", changes[_i].from);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, changes[_i].to,
             at + strlen(changes[_i].from));
    cli_put("row_scale/row_scale.task", changed);
    CLI("describe", "./row_scale");
    cli_expect_error(2, changes[_i].found, changes[_i].expected, "import the task again");
}
END_TEST

START_TEST(a_tolerance_of_the_task_is_the_published_one)
{
    char changed[1 << 16];
    copy_task("row_scale", 100);
    CLI("describe", "./row_scale");
    cli_expect(0, "0.0001");
    const char *const text = cli_text("row_scale/row_scale.task");
    const char *const at = strstr(text, "\"task\": 1,");
    snprintf(changed, sizeof changed, "%.*s\"tolerance\": {\"bfloat16\": 0.5, \"float32\": 0.0625}, %s",
             (int)(at - text), text, at);
    cli_put("row_scale/row_scale.task", changed);
    CLI("describe", "./row_scale");
    cli_expect(0, "0.0625");
}
END_TEST

START_TEST(a_folder_that_holds_no_task_is_refused)
{
    copy_task("renamed", 100);
    CLI("describe", "./renamed");
    cli_expect_error(2, "holds row_scale.task", "renamed.task was expected",
                     "rename the folder to row_scale");
    unlink("renamed/row_scale.task");
    CLI("describe", "./renamed");
    cli_expect_error(2, "has no problem.c", "or what `unseen import` wrote", "");
}
END_TEST

/* --- inputs that a task computes --- */

/* `from` in row_scale.task once replaced by `to`. */
static void change(const char *from, const char *to)
{
    char changed[1 << 16];
    const char *const text = cli_text("row_scale/row_scale.task");
    const char *const at = strstr(text, from);
    ck_assert_msg(at != NULL, "no %s", from);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    cli_put("row_scale/row_scale.task", changed);
}

static const struct {
    const char *dtype, *fill;
    int bytes;
    const char *values; /* for 3 x 4, in words; NULL: by their properties */
} computed[] = {
    {"int64", "\"affine\", \"start\": 2, \"steps\": [\"cols\", -1]", 8, "2 1 0 -1 6 5 4 3 10 9 8 7"},
    {"bool", "\"band\", \"value\": 1, \"high\": \"0 - 1*rows + cols\"", 1, "1 1 0 0 1 1 1 0 1 1 1 1"},
    {"int32", "\"band\", \"value\": 7, \"low\": -1, \"high\": 0", 4, "7 0 0 0 7 7 0 0 0 7 7 0"},
    {"float32", "\"band\", \"value\": -1e39, \"low\": 1", 0, "0 -inf -inf -inf 0 0 -inf -inf 0 0 0 -inf"},
    {"int32", "\"permutation\"", 4, NULL},
    {"int32", "\"ascending\"", 4, NULL},
};
enum { COMPUTED = sizeof computed / sizeof *computed, CELLS = 12, ROW = 4, NPY_SIZE = 4096 };

static double cell(const char *bytes, int size, int i)
{
    int64_t wide;
    int32_t narrow;
    float real;
    switch (size) {
    case 8: memcpy(&wide, bytes + 8 * i, 8); return (double)wide;
    case 4: memcpy(&narrow, bytes + 4 * i, 4); return narrow;
    case 1: return bytes[i];
    default: memcpy(&real, bytes + 4 * i, 4); return real;
    }
}

/* Rows of 0 to 3 in some order; or of 2 to 6 in rising order, not all equal. */
static void expect_rows(const char *bytes, bool is_permutation)
{
    double most = 0;
    for (int r = 0; r < CELLS / ROW; r++) {
        int met = 0;
        for (int i = 0; i < ROW; i++) {
            const double value = cell(bytes, 4, r * ROW + i);
            met |= 1 << (int)value;
            ck_assert(is_permutation || (value >= 2 && value < 7));
            ck_assert(is_permutation || i == 0 || value >= cell(bytes, 4, r * ROW + i - 1));
            most = value > most ? value : most;
        }
        ck_assert(!is_permutation || met == (1 << ROW) - 1);
    }
    ck_assert(most > 2);
}

/* Exports row_scale with rows=3 cols=4 and reads one of the files. Returns its size. */
static size_t exported(const char *path, char bytes[NPY_SIZE])
{
    cli_put("one.seen", "rows=3 cols=4 input=published seed=5\n");
    CLI("export", "./row_scale", "--format", "json", "--seen-only", "--seen", "one.seen", "--inputs", "in",
        "--device", "host");
    cli_expect(0, "\"inputs_as\": \"npy\"");
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    const size_t read = fread(bytes, 1, NPY_SIZE, file);
    fclose(file);
    return read;
}

/* The file of x of row_scale with rows=3 cols=4, with another type, range and fill. Returns its size. */
static size_t export_x(const char *dtype, const char *range, const char *fill, char bytes[NPY_SIZE])
{
    char text[300];
    copy_task("row_scale", 100);
    snprintf(text, sizeof text, "\"dtype\": \"%s\"", dtype);
    change("\"dtype\": \"float32\"", text);
    change("\"low\": 0,\n   \"bound\": 2", range);
    snprintf(text, sizeof text, "\"kind\": %s", fill);
    change("\"kind\": \"uniform\",\n     \"a\": 0,\n     \"b\": 1.0", text);
    return exported("in/seen-1/x.npy", bytes);
}

START_TEST(what_a_task_computes_is_what_its_candidates_get)
{
    char bytes[NPY_SIZE];
    const int size = computed[_i].bytes;
    const size_t read = export_x(computed[_i].dtype, "\"low\": 2, \"bound\": \"cols + 3\"", computed[_i].fill,
                                 bytes),
                 all = (size_t)(CELLS * (size ? size : 4));
    ck_assert_uint_gt(read, all);
    const char *const values = bytes + read - all, *word = computed[_i].values;
    if (!word) {
        expect_rows(values, strstr(computed[_i].fill, "permutation") != NULL);
        return;
    }
    for (int i = 0; i < CELLS; i++) {
        char *end;
        const double want = strtod(word, &end), got = cell(values, size, i);
        ck_assert_msg(got <= want && got >= want, "cell %d is %g; %g was expected", i, got, want);
        word = end;
    }
}
END_TEST

START_TEST(a_class_may_fill_the_weights)
{
    char bytes[NPY_SIZE];
    copy_task("row_scale", 100);
    change("\"fill\": {", "\"fill\": {\"weights\": {\"kind\": \"constant\", \"a\": 3},");
    const size_t read = exported("in/seen-1/weights.npy", bytes);
    ck_assert_uint_gt(read, 4 * ROW);
    for (int i = 0; i < ROW; i++)
        ck_assert_float_eq((float)cell(bytes + read - 4 * ROW, 0, i), 3);
}
END_TEST

/* Rows of four numbers of the five from `cols - 2` on, and all twelve numbers of fourteen. */
START_TEST(indices_that_are_distinct_begin_where_the_sizes_say)
{
    static const struct {
        const char *range, *fill;
        int row;
    } cases[] = {{"\"low\": \"cols - 2\", \"bound\": \"cols + 3\"", "\"distinct\", \"along\": 1", ROW},
                 {"\"low\": \"cols - 2\", \"bound\": \"cols + 12\"", "\"distinct\", \"along\": -1", CELLS}};
    char bytes[NPY_SIZE];
    const size_t read = export_x("int32", cases[_i].range, cases[_i].fill, bytes);
    ck_assert_uint_gt(read, 4 * CELLS);
    for (int start = 0; start < CELLS; start += cases[_i].row) {
        unsigned met = 0;
        for (int i = start; i < start + cases[_i].row; i++) {
            const double value = cell(bytes + read - 4 * CELLS, 4, i);
            ck_assert_msg(value >= 2 && value < (_i ? 16 : 7), "cell %d is %g", i, value);
            ck_assert_msg(!(met >> (int)value & 1), "%g comes twice", value);
            met |= 1u << (int)value;
        }
    }
}
END_TEST

/* Without dimensions, by every class. */
START_TEST(a_single_number_is_drawn_as_a_row_of_one)
{
    copy_task("row_scale", 100);
    change("\"rows\",\n    \"cols\"\n   ]", "]");
    cli_put("one.seen", "rows=3 cols=4 input=published seed=5\nrows=3 cols=4 input=signed seed=5\n"
                        "rows=3 cols=4 input=wide seed=5\nrows=3 cols=4 input=needle seed=5\n"
                        "rows=3 cols=4 input=integers seed=5\n");
    CLI("export", "./row_scale", "--format", "json", "--seen-only", "--seen", "one.seen", "--inputs", "in",
        "--device", "host");
    cli_expect(0, "\"shape\": []");
}
END_TEST

/* Rows of BackendBench are a text. */
START_TEST(a_text_file_is_a_task)
{
    if (!cli_torch())
        SKIP_TEST("no interpreter with torch: make build/venv, or UNSEEN_TEST_PYTHON");
    cli_put("relu.txt", "Operator: aten.relu.default\ncnt: 2, ((T([4, 8], f32),), {})\n");
    CLI("import", "./relu.txt", "--python", cli_torch());
    cli_expect(0, "describe ./relu");
}
END_TEST

/* Masks and logarithms, modules of a task's folder, replacements of a seen set on a host: tests in Python. */
static const char *const of_importing[] = {
    "tests/python/test_import_masks.py",     "tests/python/test_own_modules.py",
    "tests/python/test_stand_in.py",         "tests/python/test_import_bounds.py",
    "tests/python/test_import_scalars.py",   "tests/python/test_import_written.py",
    "tests/python/test_import_varying.py",   "tests/python/test_written_extents.py",
    "tests/python/test_import_loops.py",     "tests/python/test_import_nonnegative.py",
    "tests/python/test_import_sizes.py",     "tests/python/test_import_extremes.py",
    "tests/python/test_import_exponents.py", "tests/python/test_import_reads.py",
    "tests/python/test_readers.py",          "tests/python/test_readers_data.py",
    "tests/python/test_readers_calls.py",    "tests/python/test_readers_functions.py"};

START_TEST(importing_holds_its_python_tests)
{
    char command[300];
    SHARE_TEST(_i, 8);
    if (!cli_torch())
        SKIP_TEST("no interpreter with torch: make build/venv, or UNSEEN_TEST_PYTHON");
    snprintf(command, sizeof command, "'%s' '%s'", cli_torch(), cli_repository(of_importing[_i]));
    ck_assert_int_eq(system(command), 0);
}
END_TEST

#define SLOW                                                                                                 \
    "import time\nimport torch\ntime.sleep(0.2)\nrows = 4\nclass Model(torch.nn.Module):\n"                  \
    "    def forward(self, x):\n        return x + 1\ndef get_inputs():\n    return [torch.randn(rows, "     \
    "3)]\n"                                                                                                  \
    "def get_init_inputs():\n    return []\n"

/* The line that rewrites itself: on a terminal, never in a pipe; the folder does not keep it. */
START_TEST(importing_says_what_it_does_on_a_terminal_alone)
{
    char command[1600];
    SHARE_TEST(1, 6);
    if (!cli_torch())
        SKIP_TEST("no interpreter with torch: make build/venv, or UNSEEN_TEST_PYTHON");
    cli_put("slow.py", SLOW);
    CLI("import", "slow.py", "--out", "piped", "--python", cli_torch());
    cli_expect(0, "wrote piped/slow");
    ck_assert_ptr_null(strstr(cli.err, "importing: "));
    ck_assert_ptr_null(strstr(cli.out, "importing: "));
    ck_assert_int_ne(access("piped/slow/.phase", F_OK), 0);
    snprintf(command, sizeof command,
             "'%s' -B '%s' 'importing: which sizes' '%s' import slow.py --out shown --python '%s' >said "
             "</dev/null",
             cli_torch(), cli_repository("tests/python/on_a_terminal.py"), cli_tool(), cli_torch());
    ck_assert_int_eq(system(command), 0);
}
END_TEST

static TCase *task_folders_case(void)
{
    TCase *folders = tcase_create("folders");
    tcase_add_test(folders, importing_says_what_it_does_on_a_terminal_alone);
    tcase_add_loop_test(folders, indices_that_are_distinct_begin_where_the_sizes_say, 0, 2);
    tcase_add_test(folders, a_class_may_fill_the_weights);
    tcase_add_loop_test(folders, importing_holds_its_python_tests, 0,
                        sizeof of_importing / sizeof *of_importing);
    tcase_add_loop_test(folders, a_description_that_is_cut_off_is_refused, 0, 5);
    tcase_add_loop_test(folders, a_description_that_says_something_else_is_refused, 0,
                        sizeof changes / sizeof *changes);
    tcase_add_test(folders, a_tolerance_of_the_task_is_the_published_one);
    tcase_add_test(folders, a_folder_that_holds_no_task_is_refused);
    tcase_add_loop_test(folders, what_a_task_computes_is_what_its_candidates_get, 0, COMPUTED);
    tcase_add_test(folders, a_single_number_is_drawn_as_a_row_of_one);
    tcase_add_test(folders, a_text_file_is_a_task);
    return folders;
}

Suite *importing_suite(void)
{
    Suite *suite = suite_create("importing");
    TCase *const all[] = {task_folders_case(), task_made_case(), task_foreign_case()};
    for (int i = 0; i < 3; i++) {
        tcase_add_checked_fixture(all[i], cli_setup, cli_teardown);
        tcase_set_timeout(all[i], 300);
        suite_add_tcase(suite, all[i]);
    }
    suite_add_tcase(suite, kept_imports_case());
    return suite;
}
