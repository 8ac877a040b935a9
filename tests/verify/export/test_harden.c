/* Hardening a task: the choice of shapes, and the files that are written. The task is tests/task/row_scale,
 * with given answers in place of an interpreter's. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "skip.h"
#include "suites.h"
#include "verify/export/workloads.h"
#include "verify/export/harden_cover.h"
#include "verify/export/harden.h"
#include "verify/torch/task.h"

/* --- the choice --- */

enum { TARGETS = 10 };

static const struct {
    const char *kills[4]; /* a character a target */
    double cost[4];
    int most, count, chosen[4], fresh[4];
} covers[] = {
    /* the largest gain first, the cheapest in front */
    {{"11100", "00011", "00001", "10000"}, {9, 5, 1, 1}, 12, 2, {1, 0}, {2, 3}},
    /* among nearly equal ones the cheaper */
    {{"1111111111", "1111111110", "0000000001", ""}, {9, 2, 1, 1}, 12, 2, {2, 1}, {1, 9}},
    /* a shape that others make useless is dropped: 0 is best at first */
    {{"011110", "111000", "000111", ""}, {9, 2, 3, 1}, 12, 2, {1, 2}, {3, 3}},
    /* no more than asked for */
    {{"10000", "01000", "00110", "00001"}, {1, 1, 1, 1}, 2, 2, {2, 0}, {2, 1}},
    /* nothing to kill */
    {{"", "", "", ""}, {1, 1, 1, 1}, 12, 0, {0}, {0}},
};

START_TEST(few_configurations_kill_what_many_do)
{
    bool kills[4 * TARGETS];
    int chosen[12], fresh[12], count;
    for (int c = 0; c < 4; c++)
        for (int t = 0; t < TARGETS; t++)
            kills[c * TARGETS + t] = t < (int)strlen(covers[_i].kills[c]) && covers[_i].kills[c][t] == '1';
    const struct covering covering = {kills, covers[_i].cost, 4, TARGETS};
    count = cover_choose(&covering, covers[_i].most, chosen, fresh);
    ck_assert_int_eq(count, covers[_i].count);
    for (int i = 0; i < count; i++) {
        if (_i != 3) /* equal ones in any order */
            ck_assert_int_eq(chosen[i], covers[_i].chosen[i]);
        if (i)
            ck_assert(covers[_i].cost[chosen[i - 1]] <= covers[_i].cost[chosen[i]]);
    }
    int dead = 0, wanted = 0;
    for (int i = 0; i < count; i++) {
        dead += fresh[i];
        wanted += covers[_i].fresh[i];
    }
    ck_assert_int_eq(dead, wanted);
}
END_TEST

/* --- a trial --- */

static struct task task;
static struct trial trial;
static struct hardened hardened;

static json_t *row(const char *name, const char *kind, const char *seen, const char *drawn)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "name", name, "kind", kind, "seen_published", seen,
                     "seen_ours", seen, "drawn_ours", drawn, "drawn_hardened", drawn);
}

static json_t *answer_with(const char *marks)
{
    return json_pack("{s:[o, o, o], s:[], s:i, s:f, s:f, s:s, s:[[f, f], [f, f], [f, f]]}", "rows",
                     row("all zeros", "null", "0", "000"), row("rows: tail lost", "fault", "1", marks),
                     row("cols: wrapped", "fault", "-", "---"), "dropped", "trials", 5, "atol", 1e-4, "rtol",
                     1e-4, "module", "# the module\n", "tolerances", 0.0, 1e-6, 1e-5, 0.0, 1e-7, 2e-6);
}

static void add(struct trial_configs *list, const char *line, const char *input, double cost)
{
    struct space_error error;
    list->item = realloc(list->item, (size_t)(list->count + 1) * sizeof *list->item);
    struct trial_config *item = &list->item[list->count++];
    *item = (struct trial_config){.cost = cost};
    snprintf(item->input, sizeof item->input, "%s", input);
    ck_assert_msg(config_parse(&item->config, task.problem, line, "here", &error) == 0, "%s", error.text);
}

static void make(const char *marks)
{
    char text[2048] = "";
    if (!task.problem)
        task.problem =
            imported_read(cli_repository("tests/task/row_scale"), "row_scale", NULL, text, sizeof text);
    ck_assert_msg(task.problem != NULL, "%s", text);
    trial = (struct trial){.task = &task};
    add(&trial.seen, "rows=128 cols=4096", "published", 10);
    add(&trial.drawn, "rows=65 cols=3 seed=7", "small", 4);
    add(&trial.drawn, "rows=1 cols=129 seed=8", "signed", 2);
    add(&trial.drawn, "rows=1 cols=129 seed=9", "published", 3);
    json_t *answer = answer_with(marks);
    ck_assert_msg(trial_read(&trial, answer, text, sizeof text) == 0, "%s", text);
    json_decref(answer);
    hardened = (struct hardened){.name = "row_scale", .seed = 1, .device = "a host"};
    ck_assert_int_eq(harden_choose(&hardened, &trial), 0);
}

static char *written(void (*write)(FILE *, const struct hardened *))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    write(out, &hardened);
    fclose(out);
    return text;
}

static void expect(void (*write)(FILE *, const struct hardened *), const char *const *parts)
{
    char *text = written(write);
    for (; *parts; parts++)
        ck_assert_msg(strstr(text, *parts) != NULL, "no '%s' in\n%s", *parts, text);
    free(text);
}
#define EXPECT(write, ...) expect(write, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(an_answer_is_counted)
{
    make("011");
    const struct harden_counts nulls = harden_count(&hardened, true), faults = harden_count(&hardened, false);
    ck_assert(nulls.all == 1 && nulls.published == 1 && nulls.list == 1);
    ck_assert(faults.all == 2 && faults.shown == 1 && faults.published == 0 && faults.list == 1 &&
              faults.any == 1);
    ck_assert_int_eq(hardened.count, 1); /* the first configuration alone is enough */
    ck_assert(harden_is_fresh(&hardened, &trial.row[1], 0));
    trial_clear(&trial);
    make("111");
    ck_assert_int_eq(harden_count(&hardened, false).list, 0);
    ck_assert_int_eq(hardened.chosen[0], 1); /* the cheapest that rejects zeros */
    trial_clear(&trial);
}
END_TEST

START_TEST(an_answer_that_is_none_is_refused)
{
    static const char *const marks[] = {"00", "0000", "000x", ""};
    char text[1024];
    make("011");
    for (int i = 0; i < 4; i++) {
        struct trial other = {.seen = trial.seen, .drawn = trial.drawn};
        json_t *answer = answer_with(marks[i]);
        ck_assert_int_eq(trial_read(&other, answer, text, sizeof text), -1);
        ck_assert_ptr_nonnull(strstr(text, "--->"));
        json_decref(answer);
        free(other.row);
        json_decref(other.answer);
    }
    trial_clear(&trial);
}
END_TEST

START_TEST(every_format_names_the_same_shapes)
{
    make("101"); /* the fault only by the second; zeros by any */
    EXPECT(harden_write_module, "# the module\n", "SHAPES = [\n    {\"rows\": 1, \"cols\": 129},\n]\n",
           "INPUTS = [\"signed\"]", "SEEDS = [8]", "TOLERANCES = [(1e-05, 0)]");
    EXPECT(harden_write_shapes, "SHAPES = [\n    {\"rows\": 1, \"cols\": 129},\n]\n");
    EXPECT(harden_write_tests, "rows: 1; cols: 129; input: signed; seed: 8\n");
    EXPECT(harden_write_page, "The old check is KernelBench's: `allclose` with atol 0.0001",
           "| planted faults | 2 | 1 | 0 | 0 | 1 | 1 |", "accepts 0 null outputs and 1 planted faults",
           "- cols: wrapped",
           "| 0 | rows=1 cols=129 | signed | 8 | 1e-05 | 0 | 2: all zeros; rows: tail lost |");
    trial.own = true;
    EXPECT(harden_write_page, "The old check is the task's, with a tolerance of its own: `allclose`");
    char *text = written(harden_write_workloads);
    json_t *line = json_loads(text, 0, NULL);
    ck_assert_msg(line != NULL, "%s", text);
    const json_t *workload = json_object_get(line, "workload");
    ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(workload, "axes"), "cols")), 129);
    ck_assert_ptr_nonnull(json_object_get(json_object_get(workload, "inputs"), "x"));
    ck_assert_ptr_nonnull(json_object_get(json_object_get(workload, "inputs"), "scale"));
    ck_assert_uint_eq(strlen(json_string_value(json_object_get(workload, "uuid"))), 36);
    json_decref(line);
    free(text);
    text = written(harden_write_json);
    line = json_loads(text, 0, NULL);
    ck_assert_int_eq(json_integer_value(json_object_get(line, "harden")), 1);
    ck_assert_uint_eq(json_array_size(json_object_get(line, "wrong")), 3);
    ck_assert_uint_eq(json_array_size(json_object_get(line, "tried")), 3);
    json_decref(line);
    free(text);
    trial_clear(&trial);
}
END_TEST

/* Where inputs cannot be expressed, two configurations of one shape are one line. */
START_TEST(a_shape_is_written_once)
{
    make("101");
    hardened.count = 2;
    hardened.chosen[0] = 1;
    hardened.chosen[1] = 2;
    char *text = written(harden_write_shapes);
    ck_assert_ptr_eq(strstr(text, "129"), strrchr(text, '1'));
    free(text);
    text = written(harden_write_workloads);
    ck_assert_ptr_eq(strchr(text, '\n'), strrchr(text, '\n'));
    free(text);
    EXPECT(harden_write_tests, "input: signed; seed: 8\n", "input: published; seed: 9\n");
    trial_clear(&trial);
}
END_TEST

START_TEST(names_become_letters)
{
    char name[16];
    workload_letters(name, sizeof name, "dim0_2");
    ck_assert_str_eq(name, "dimAC");
    workload_letters(name, 4, "batch_size");
    ck_assert_str_eq(name, "bat");
}
END_TEST

START_TEST(a_folder_is_written_whole_or_not_at_all)
{
    char text[5000] = "";
    struct stat status;
    make("011");
    ck_assert_msg(harden_write(&hardened, "out", text, sizeof text) == 0, "%s", text);
    static const char *const names[] = {"out/row_scale.py", "out/shapes.py",   "out/workloads.jsonl",
                                        "out/tests.txt",    "out/harden.json", "out/HARDEN.md"};
    for (int i = 0; i < 6; i++)
        ck_assert_msg(stat(names[i], &status) == 0 && status.st_size > 0, "%s", names[i]);
    ck_assert_int_eq(harden_write(&hardened, "out", text, sizeof text), -1);
    ck_assert_ptr_nonnull(strstr(text, "cannot make out: File exists"));
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit small = {600, 600};
    setrlimit(RLIMIT_FSIZE, &small);
    ck_assert_int_eq(harden_write(&hardened, "full", text, sizeof text), -1);
    ck_assert_msg(strstr(text, "cannot write full/") && strstr(text, "--->"), "%s", text);
    ck_assert_int_ne(stat("full", &status), 0);
    trial_clear(&trial);
}
END_TEST

/* --- the command --- */

START_TEST(what_cannot_be_hardened_is_refused)
{
    struct stat status;
    const char *const row_scale = cli_repository("tests/task/row_scale");
    CLI("harden", "softmax", "--out", "out");
    cli_expect_error(2, "softmax is a problem of which", "harden takes a task", "unseen audit");
    CLI("harden", row_scale);
    cli_expect_error(2, "found no --out", "the folder to be made was expected", "--out hardened");
    CLI("harden", row_scale, "--out", "tiny.seen");
    cli_expect_error(2, "tiny.seen is there already", "a folder to be made", "choose another place");
    CLI("harden", row_scale, "--out", "out", "--device", "host", "--python", "./no-python");
    cli_expect_error(3, "cannot run the interpreter ./no-python", "Python with torch was expected",
                     "--python PATH names one");
    CLI("audit", row_scale, "--device", "host", "--python", "./no-python", "--json", "no/such/place.json");
    cli_expect_error(3, "no/such/place.json", "", "create the directory first");
    cli_put("task.py", "import torch\n");
    CLI("harden", "task.py", "--out", "out", "--device", "host", "--python", "/bin/true");
    cli_expect_error(3, "/bin/true: it does not say where it lies", "Python with torch was expected",
                     "--python PATH names one");
    ck_assert_int_ne(stat("out", &status), 0);
    ck_assert(!cli_has_children());
}
END_TEST

/* Python's own errors: without torch, and tasks that cannot be hardened. */
START_TEST(an_interpreter_without_torch_and_a_task_without_inputs_are_named)
{
    struct stat status;
    if (system("python3 -I -c 'import torch' >/dev/null 2>&1") != 0 &&
        system("python3 -I -c '' >/dev/null 2>&1") == 0) {
        CLI("harden", cli_repository("tests/task/row_scale"), "--out", "out", "--device", "host", "--python",
            "python3");
        cli_expect_error(3, "has no torch", "one with PyTorch was expected",
                         "--python PATH names an interpreter that has it");
        ck_assert_int_ne(stat("out", &status), 0);
    }
    if (!cli_torch())
        SKIP_TEST("no interpreter with torch: make build/venv, or UNSEEN_TEST_PYTHON");
    if (!getenv("PYTHON_ALL"))
        SKIP_TEST("PYTHON_ALL=1 runs it");
#define TASK_OF(forward, inputs)                                                                             \
    "import torch\nclass Model(torch.nn.Module):\n    def forward(self" forward "\n"                         \
    "n = 8\ndef get_inputs():\n    return " inputs "\ndef get_init_inputs():\n    return []\n"
    cli_put("none.py", TASK_OF("): return torch.zeros(3)", "[]"));
    cli_put("random.py", TASK_OF(", x): return x + torch.rand_like(x)", "[torch.rand(n, n)]"));
    cli_put("tangents.py", TASK_OF(", x): return torch.tan(x)", "[torch.rand(n, n)]"));
    CLI("harden", "./none.py", "--out", "out", "--device", "host", "--python", cli_torch());
    cli_expect_error(2, "get_inputs gives no tensor, and Model has no weight", "one at least was expected",
                     "pass what forward computes with as a tensor");
    CLI("harden", "./random.py", "--out", "out", "--device", "host", "--python", cli_torch());
    cli_expect_error(2, "random draws random numbers in forward", "can be told was expected",
                     "take out of forward");
    CLI("audit", "./tangents.py", "--device", "host", "--python", cli_torch());
    cli_expect_error(2, "no rule for aten.tan.default", "the oracle has rules for", "--seen FILE");
    ck_assert_int_ne(stat("out", &status), 0);
}
END_TEST

/* tests/task/row_scale with a tolerance of its own that accepts zeros. */
static void copy_with_tolerance(void)
{
    char command[1200];
    snprintf(command, sizeof command, "cp -r '%s' row_scale", cli_repository("tests/task/row_scale"));
    ck_assert_int_eq(system(command), 0);
    json_t *root = json_load_file("row_scale/row_scale.task", 0, NULL);
    json_object_set_new(root, "tolerance", json_pack("{s:f}", "float32", 10.0));
    ck_assert_int_eq(json_dump_file(root, "row_scale/row_scale.task", JSON_INDENT(1)), 0);
    json_decref(root);
}

static bool is_rejected(const json_t *root, const char *name, const char *key)
{
    size_t i;
    const json_t *row;
    json_array_foreach(json_object_get(root, "wrong"), i,
                       row) if (strcmp(json_string_value(json_object_get(row, "name")), name) ==
                                0) return json_is_true(json_object_get(row, key));
    ck_abort_msg("no row '%s'", name);
    return false;
}

static void expect_its_tolerance(void)
{
    json_t *root = json_load_file("out/harden.json", 0, NULL);
    const json_t *published = json_object_get(root, "published");
    ck_assert(json_number_value(json_object_get(published, "atol")) == 10);
    ck_assert(json_is_true(json_object_get(published, "own")));
    ck_assert(!is_rejected(root, "all zeros", "published"));
    ck_assert(is_rejected(root, "all zeros", "published_shape_allowed_error"));
    json_decref(root);
}

/* Narrow enough that a few seconds are enough. */
START_TEST(a_task_is_hardened_and_its_files_run)
{
    char command[1200];
    if (!cli_torch())
        SKIP_TEST("no interpreter with torch: make build/venv, or UNSEEN_TEST_PYTHON");
    cli_put("row.space", "rows 2..9\ncols 3..40 tile 32\ninput published signed\nlimit rows*cols <= 200\n");
    cli_put("row.seen", "rows=4 cols=32 input=published\n");
    copy_with_tolerance();
    CLI("harden", "./row_scale", "--out", "out", "--device", "host", "--contract", "row.space", "--seen",
        "row.seen", "--unseen", "4", "--seed", "3", "--python", cli_torch());
    cli_expect(0, "planted faults");
    cli_expect(0, "wrote out; HARDEN.md says what each shape is for");
    expect_its_tolerance();
    ck_assert(!cli_has_children());
    snprintf(command, sizeof command,
             "'%s' '%s' out row_scale row_scale/source.py >said 2>&1 || { cat said; exit 1; }", cli_torch(),
             cli_repository("tests/python/harden_command.py"));
    ck_assert_int_eq(system(command), 0);
    if (!getenv("PYTHON_ALL"))
        return; /* another start of torch */
    snprintf(command, sizeof command, "'%s' '%s' out row_scale >said 2>&1 || { cat said; exit 1; }",
             cli_torch(), cli_repository("tests/python/harden_written.py"));
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(a_task_is_audited_by_its_own_check)
{
    if (!cli_torch())
        SKIP_TEST("no interpreter with torch: make build/venv, or UNSEEN_TEST_PYTHON");
    if (!getenv("PYTHON_ALL"))
        SKIP_TEST("PYTHON_ALL=1 runs it");
    CLI("audit", cli_repository("tests/task/row_scale"), "--device", "host", "--unseen", "3", "--seed", "3",
        "--python", cli_torch(), "--json", "a.json");
    cli_expect(0, "expected, noise of half the tolerance   yes  1 of 1");
    cli_expect(0, "0 pass ours");
    json_t *root = json_load_file("a.json", 0, NULL);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "unseen_configs")), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "trials")), 5);
    ck_assert(json_number_value(json_object_get(root, "published_atol")) == 1e-4); /* KernelBench's */
    json_decref(root);
}
END_TEST

Suite *harden_suite(void)
{
    Suite *suite = suite_create("harden");
    TCase *choice = tcase_create("choice"), *files = tcase_create("files"),
          *command = tcase_create("command");
    tcase_add_loop_test(choice, few_configurations_kill_what_many_do, 0, sizeof covers / sizeof *covers);
    tcase_add_checked_fixture(files, cli_setup, cli_teardown);
    tcase_add_test(files, an_answer_is_counted);
    tcase_add_test(files, an_answer_that_is_none_is_refused);
    tcase_add_test(files, every_format_names_the_same_shapes);
    tcase_add_test(files, a_shape_is_written_once);
    tcase_add_test(files, names_become_letters);
    tcase_add_test(files, a_folder_is_written_whole_or_not_at_all);
    tcase_add_checked_fixture(command, cli_setup, cli_teardown);
    tcase_set_timeout(command, 300);
    tcase_add_test(command, what_cannot_be_hardened_is_refused);
    tcase_add_test(command, an_interpreter_without_torch_and_a_task_without_inputs_are_named);
    tcase_add_test(command, a_task_is_hardened_and_its_files_run);
    tcase_add_test(command, a_task_is_audited_by_its_own_check);
    suite_add_tcase(suite, choice);
    suite_add_tcase(suite, files);
    suite_add_tcase(suite, command);
    return suite;
}
