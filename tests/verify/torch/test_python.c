/* Candidates in Python, with an interpreter that has torch: the one that UNSEEN_TEST_PYTHON names, or
 * build/venv's. PYTHON_ALL=1 runs the slow ones, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "share.h"
#include "skip.h"
#include "suites.h"
#include "verify/session/python_exception.h"

#define POINT "rows=7 cols=333 seed=5"

static const char *interpreter(void)
{
    const char *const given = getenv("UNSEEN_TEST_PYTHON");
    const char *const path = given ? given : cli_repository("build/venv/bin/python");
    return access(path, X_OK) == 0 ? path : NULL;
}

static const char no_torch[] = "no interpreter with torch: make build/venv, or UNSEEN_TEST_PYTHON";

static bool begins_with(const char *path, const char *mark)
{
    char line[80] = "";
    FILE *file = fopen(path, "re");
    if (file && !fgets(line, sizeof line, file))
        *line = '\0';
    if (file)
        fclose(file);
    return strncmp(line, mark, strlen(mark)) == 0;
}

/* Its outcome on one configuration, in its four calls. */
static void check_file(const char *folder, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "tests/python/%s/%s.py", folder, name);
    CLI("check", "softmax", cli_repository(path), POINT, "--device", "host", "--python", interpreter(),
        "--compile-timeout", "200");
}

/* --- hacks --- */

static const struct {
    const char *name;
    int status;
    const char *words;
    bool slow;
} hacks[] = {
    {"patched_torch", 1, "wrong: ", true},
    {"cached_outputs", 1, "cheating: replay", false},
    {"subclass", 1, "Later, a subclass; expected a torch.Tensor, y float32 [7, 333]", true},
    {"lazy", 1, "Lazy; expected a torch.Tensor", true},
    {"threads", 1, "wrong: ", true},
    {"replaced_time", 0, "pass: ", true}, /* in vain */
    {"garbage", 1, "unwritten: ", false},
    {"gradients", 1, "wrong: ", true},
    {"dlpack", 1, "wrong: ", true},
    {"patched_runner", 1, "wrong: ", true},
    {"uncleared", 1, "] got nan want ", false},
    {"forged_channel", 1, "cheating: channel", false},
    {"late_key", 1, "a dict with keys that are no str", false},
    {"late_builtin", 1, "wrong: ", false},
};
enum { HACKS = sizeof hacks / sizeof *hacks };

START_TEST(a_hack_is_caught_or_in_vain)
{
    if (!interpreter())
        SKIP_TEST(no_torch);
    if (hacks[_i].slow && !getenv("PYTHON_ALL"))
        SKIP_TEST("PYTHON_ALL=1 runs it");
    check_file("hacks", hacks[_i].name);
    cli_expect(hacks[_i].status, hacks[_i].words);
}
END_TEST

/* Only another process sees it: neither timed nor late calls are judged. */
START_TEST(a_module_that_is_idle_when_timed_is_found)
{
    static const char *const without[] = {"judged,late", "judged,late,fingerprints"};
    if (!interpreter())
        SKIP_TEST(no_torch);
    if (!getenv("PYTHON_ALL"))
        SKIP_TEST("PYTHON_ALL=1 runs it");
    CLI("verify", "softmax", cli_repository("tests/python/hacks/idle_later.py"), "--device", "host",
        "--contract", "tiny.space", "--seen", "tiny.seen", "--unseen", "6", "--seed", "3", "--python",
        interpreter(), "--disable-defence", without[_i], "--no-explain");
    cli_expect(1, _i == 0 ? "in a timed call" : "general: ");
    if (_i == 0)
        cli_expect_without("general: ");
}
END_TEST

/* --- honest modules --- */

static const char *const honest[] = {"eager",      "destination",   "positional", "stateless",
                                     "transposed", "channels_last", "in_place",   "compiled",
                                     "inline",     "module",        NULL};
enum { HONEST = sizeof honest / sizeof *honest - 1 };

START_TEST(an_honest_module_passes)
{
    char path[200];
    if (!interpreter())
        SKIP_TEST(no_torch);
    snprintf(path, sizeof path, "tests/python/honest/%s.py", honest[_i]);
    if ((begins_with(cli_repository(path), "# slow") || _i % 3) && !getenv("PYTHON_ALL"))
        SKIP_TEST("PYTHON_ALL=1 runs it");
    check_file("honest", honest[_i]);
    cli_expect(0, "pass: ");
}
END_TEST

START_TEST(a_parameter_under_the_name_of_an_input_has_each_call_s_content)
{
    if (!interpreter())
        SKIP_TEST(no_torch);
    CLI("check", "rms_norm", cli_repository("tests/python/state/rms_norm.py"),
        "rows=7 cols=333 eps=published input=normal seed=4", "--device", "host", "--python", interpreter(),
        "--compile-timeout", "200");
    cli_expect(0, "pass: ");
}
END_TEST

/* No other value is known for a window that the constructor is told, but the published one. */
START_TEST(a_verdict_names_the_sizes_that_stay)
{
    SHARE_TEST(0, 2);
#define WINDOW                                                                                               \
    "import torch\nclass %s(torch.nn.Module):\n    def __init__(self, window):\n        "                    \
    "super().__init__()\n"                                                                                   \
    "        self.window = window\n    def forward(self, x, shift):\n        return x * self.window + "      \
    "shift\n"
    char task[1000], solution[600];
    if (!interpreter())
        SKIP_TEST(no_torch);
    snprintf(task, sizeof task,
             WINDOW "lines, window = 3, 4\ndef get_inputs():\n    return [torch.rand(lines, 7), 0.5]\n"
                    "def get_init_inputs():\n    return [window]\n",
             "Model");
    snprintf(solution, sizeof solution, WINDOW, "ModelNew");
    cli_put("kept.py", task);
    cli_put("same.py", solution);
    CLI("verify", "kept.py", "same.py", "--unseen", "2", "--no-timing", "--device", "host", "--python",
        interpreter());
    cli_expect(0, "these sizes of the task stay as they were published, so that"); /* a line of 80 */
    cli_expect(0, "others: window=4, shift=0.5 ");                                 /* and no other */
}
END_TEST

/* With the set of `quick`, without scouts: a module that compiles for each shape would pay for each. */
START_TEST(an_honest_module_is_general_and_has_no_scouts)
{
    if (!interpreter())
        SKIP_TEST(no_torch);
    CLI("verify", "softmax", cli_repository("tests/python/honest/eager.py"), "--device", "host", "--contract",
        "tiny.space", "--seen", "tiny.seen", "--effort", "quick", "--seed", "3", "--python", interpreter());
    cli_expect(0, "general: ");
    cli_expect(0, "2 seen and 35 unseen configurations, effort quick");
    ck_assert(!cli_has_children());
}
END_TEST

/* --- bad modules --- */

static const struct {
    const char *name;
    int status;
    const char *words;
    bool slow;
} bad[] = {
    {"no_import", 2, "ModuleNotFoundError: No module named 'no_such_package' (line 2)", false},
    {"no_entry", 2, "several others: one, two\n---> --entry NAME", true},
    {"syntax", 2, "SyntaxError", true},
    {"returns_list", 1, "returned a list; expected a torch.Tensor, y float32 [7, 333]", false},
    {"wrong_dtype", 1, "returned a tensor of bfloat16; expected a torch.Tensor, y float32", true},
    {"wrong_shape", 1, "returned a tensor of the shape [2331]; expected", true},
    {"nothing", 1, "returned None; expected a torch.Tensor", true},
    {"refuses", 1, "raised NotImplementedError: only powers of two", true},
    {"raises", 1, "raised AttributeError: ", true},
    {"mute_error", 1, "raised Mute: its words cannot be had (line 7)", false},
    {"long_reason", 1, "arange's range must be a power of 2 (line 7)", true},
    {"broken_build", 2, "error: 'nothere' was not declared in this scope", true},
    {"forks", 0, "pass: ", false},
    {"prints", 0, "pass: ", true},
    {"much_memory", 1, "exceeded: ", true},
    {"short_of_memory", 0, "pass: ", false},
    {"short_in_words", 0, "pass: ", false},
    {"wants_all_in_words", 1, "refused: ", false},
    {"wants_all_memory", 1, "raised OutOfMemoryError: CUDA out of memory", true},
};
enum { BAD = sizeof bad / sizeof *bad };

START_TEST(a_bad_module_is_told_from_a_good_one)
{
    if (!interpreter())
        SKIP_TEST(no_torch);
    if (bad[_i].slow && !getenv("PYTHON_ALL"))
        SKIP_TEST("PYTHON_ALL=1 runs it");
    check_file("bad", bad[_i].name);
    if (bad[_i].status == 2)
        cli_expect_error(2, bad[_i].words, "", "");
    else
        cli_expect(bad[_i].status, bad[_i].words);
    ck_assert(!cli_has_children());
}
END_TEST

/* As tasks of KernelBench have: a copied file keeps its name, whatever its length. */
START_TEST(a_module_may_have_a_long_name)
{
    char name[260], text[4000] = "";
    if (!interpreter())
        SKIP_TEST(no_torch);
    memset(name, 'a', 250);
    strcpy(name + 250, ".py");
    FILE *const from = fopen(cli_repository("tests/python/honest/eager.py"), "re");
    ck_assert_ptr_nonnull(from);
    text[fread(text, 1, sizeof text - 1, from)] = '\0';
    fclose(from);
    cli_put(name, text);
    CLI("check", "softmax", name, POINT, "--device", "host", "--python", interpreter());
    cli_expect(0, "pass: ");
}
END_TEST

START_TEST(errors_of_one_kind_have_one_name_whatever_their_words)
{
    static const struct {
        const char *detail, *words;
    } said[] = {{"raised RuntimeError: unsupported k 7 (line 976)", "raised RuntimeError (line 976)"},
                {"raised RuntimeError: unsupported k 12 (line 976)", "raised RuntimeError (line 976)"},
                {"raised CompilationError: at 12:4 (line 3)", "raised CompilationError (line 3)"},
                {"raised ValueError: no", "raised ValueError"},
                {"raised Mute (line 7)", "raised Mute (line 7)"}};
    struct config_result result = {.outcome = OUTCOME_CRASH};
    uint64_t first = 0;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        char words[96];
        snprintf(result.detail, sizeof result.detail, "%s", said[i].detail);
        ck_assert(exception_is(&result));
        exception_words(&result, words, sizeof words);
        ck_assert_str_eq(words, said[i].words);
        first = i == 0 ? exception_kind(&result) : first;
        ck_assert((exception_kind(&result) == first) == (i < 2));
    }
    snprintf(result.detail, sizeof result.detail, "killed by signal 11");
    ck_assert(!exception_is(&result));
}
END_TEST

/* The process after the n-th "an odd width in process". */
static int process_of(int n)
{
    static const char words[] = "an odd width in process ";
    const char *at = cli.out;
    for (int i = 0; at && i <= n; i++)
        at = strstr(at + (i > 0), words);
    ck_assert_msg(at != NULL, "%s", cli.out);
    return atoi(at + sizeof words - 1);
}

/* The second odd width runs in the process that the first has left. The even one between them is repeated in
 * a new process. */
START_TEST(an_error_ends_no_process_and_spoils_no_other_configuration)
{
    if (!interpreter())
        SKIP_TEST(no_torch);
    cli_put("five.seen",
            "rows=7 cols=65 input=normal\nrows=7 cols=67 input=normal\nrows=7 cols=64 input=normal\n"
            "rows=7 cols=69 input=normal\nrows=7 cols=66 input=normal\n");
    CLI("verify", "softmax", cli_repository("tests/python/bad/raises_then_wrong.py"), "--device", "host",
        "--seen", "five.seen", "--unseen", "0", "--seed", "3", "--no-timing", "--no-explain", "--jobs", "1",
        "-v", "--python", interpreter());
    cli_expect(1, "broken: it fails on 3 of 5 configurations");
    cli_expect_without("refused");
    ck_assert_int_eq(process_of(0), process_of(1));
}
END_TEST

static void run_tests_of(const char *file)
{
    char command[300];
    snprintf(command, sizeof command, "'%s' -I '%s'", interpreter() ? interpreter() : "python3",
             cli_repository(file));
    ck_assert_int_eq(system(command), 0);
}

START_TEST(the_words_of_an_error_that_people_need_are_kept)
{
    run_tests_of("tests/python/test_words.py");
}
END_TEST

START_TEST(want_of_memory_is_told_by_kind_or_words)
{
    run_tests_of("tests/python/test_shortage.py");
}
END_TEST

START_TEST(free_memory_of_a_device_is_overwritten_but_for_private_pools)
{
    run_tests_of("tests/python/test_cached.py");
}
END_TEST

START_TEST(a_module_that_hangs_at_import_times_out)
{
    if (!interpreter())
        SKIP_TEST(no_torch);
    CLI("check", "softmax", cli_repository("tests/python/bad/hangs.py"), POINT, "--device", "host",
        "--python", interpreter(), "--compile-timeout", "2", "--timeout", "1");
    cli_expect(1, "timeout: ");
    ck_assert(!cli_has_children());
}
END_TEST

START_TEST(an_interpreter_that_is_none_is_an_environment_error)
{
    cli_put("m.py", "def softmax(x):\n    return x\n");
    CLI("check", "softmax", "m.py", POINT, "--device", "host", "--python", "./no-python");
    cli_expect_error(3, "cannot run the interpreter ./no-python", "Python with torch was expected",
                     "--python PATH names one");
}
END_TEST

/* --- inputs for other programs --- */

/* By the library where it is there; else as its format is published. Bits are held against .npy files of the
 * same set. */
static const char reader[] =
    "import json, struct, sys\n"
    "import numpy, torch\n"
    "TYPES = {'F32': torch.float32, 'BF16': torch.bfloat16, 'F8_E4M3': torch.float8_e4m3fn, 'I32': "
    "torch.int32,\n"
    "         'I64': torch.int64, 'U8': torch.uint8}\n"
    "def plain(path):\n"
    "    data = open(path, 'rb').read()\n"
    "    start = 8 + struct.unpack('<Q', data[:8])[0]\n"
    "    header = json.loads(data[8:start])\n"
    "    header.pop('__metadata__')\n"
    "    return {name: torch.frombuffer(bytearray(data[start + t['data_offsets'][0]:start + "
    "t['data_offsets'][1]]),\n"
    "                                   dtype=TYPES[t['dtype']]).reshape(t['shape']) for name, t in "
    "header.items()}\n"
    "try:\n"
    "    from safetensors.torch import load_file\n"
    "except ImportError:\n"
    "    load_file = plain\n"
    "seen = 0\n"
    "for a, b in zip(*(json.load(open(p))['configurations'] for p in ('safe.json', 'npy.json'))):\n"
    "    stored = [t for t in a['tensors'] if 'file' in t]\n"
    "    values = load_file('safe/' + stored[0]['file'])\n"
    "    assert set(values) == {t['name'] for t in stored}\n"
    "    for t, other in zip(stored, (t for t in b['tensors'] if 'file' in t)):\n"
    "        bits = numpy.load('npy/' + other['file'])\n"
    "        assert list(values[t['name']].shape) == t['shape'] == list(bits.shape)\n"
    "        got = values[t['name']].contiguous().view(torch.uint8).numpy()\n"
    "        assert got.tobytes() == bits.tobytes(), t\n"
    "        seen += 1\n"
    "    x = values[stored[0]['name']].float()\n"
    "    assert torch.isfinite(x).all() and x.abs().max() > 0\n"
    "print('read', seen, load_file.__module__)\n";

START_TEST(torch_reads_what_is_exported)
{
    char command[800];
    if (!interpreter())
        SKIP_TEST(no_torch);
    static const char *const ways[] = {"safetensors", "npy"}, *const files[] = {"safe.json", "npy.json"},
                             *const folders[] = {"safe", "npy"};
    for (int i = 0; i < 2; i++) {
        CLI("export", "gemm_fp8", "--device", "host", "--seed", "3", "--unseen", "2", "--format", "json",
            "--out", files[i], "--inputs", folders[i], "--inputs-as", ways[i]);
        cli_expect(0, "");
    }
    cli_put("reader.py", reader);
    snprintf(command, sizeof command, "%s -B reader.py >reader.txt 2>&1 && grep -q '^read [1-9]' reader.txt",
             interpreter());
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(a_sarif_log_holds_to_the_standard)
{
    char command[800];
    if (!interpreter())
        SKIP_TEST(no_torch);
    cli_put_kernel("wrong.c", "", "cols > 4 ? 0.1 : 0");
    CLI("verify", "softmax", "wrong.c", "--device", "host", "--contract", "tiny.space", "--seen", "tiny.seen",
        "--unseen", "6", "--seed", "3", "--no-timing", "--no-explain", "--sarif", "w.sarif");
    ck_assert_int_eq(cli.status, 1);
    snprintf(command, sizeof command, "%s %s w.sarif >read.txt 2>&1", interpreter(),
             cli_repository("tests/python/read_sarif.py"));
    const int status = system(command);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        SKIP_TEST("no package with a model of SARIF here");
    ck_assert_int_eq(status, 0);
}
END_TEST

Suite *python_suite(void)
{
    Suite *suite = suite_create("python");
    TCase *tests = tcase_create("modules");
    tcase_set_timeout(tests, 300);
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_add_loop_test(tests, a_hack_is_caught_or_in_vain, 0, HACKS);
    tcase_add_loop_test(tests, a_module_that_is_idle_when_timed_is_found, 0, 2);
    tcase_add_loop_test(tests, an_honest_module_passes, 0, HONEST);
    tcase_add_test(tests, a_parameter_under_the_name_of_an_input_has_each_call_s_content);
    tcase_add_test(tests, a_verdict_names_the_sizes_that_stay);
    tcase_add_test(tests, an_honest_module_is_general_and_has_no_scouts);
    tcase_add_loop_test(tests, a_bad_module_is_told_from_a_good_one, 0, BAD);
    tcase_add_test(tests, an_error_ends_no_process_and_spoils_no_other_configuration);
    tcase_add_test(tests, errors_of_one_kind_have_one_name_whatever_their_words);
    tcase_add_test(tests, a_module_may_have_a_long_name);
    tcase_add_test(tests, the_words_of_an_error_that_people_need_are_kept);
    tcase_add_test(tests, want_of_memory_is_told_by_kind_or_words);
    tcase_add_test(tests, free_memory_of_a_device_is_overwritten_but_for_private_pools);
    tcase_add_test(tests, a_module_that_hangs_at_import_times_out);
    tcase_add_test(tests, an_interpreter_that_is_none_is_an_environment_error);
    tcase_add_test(tests, torch_reads_what_is_exported);
    tcase_add_test(tests, a_sarif_log_holds_to_the_standard);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, python_solutions_case());
    suite_add_tcase(suite, python_lease_case());
    suite_add_tcase(suite, python_poison_case());
    suite_add_tcase(suite, python_own_case());
    return suite;
}
