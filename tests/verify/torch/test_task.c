/* Tasks in Python: importing, its messages about files that are no tasks, and verdicts on solutions. Tests
 * with torch take UNSEEN_TEST_PYTHON or build/venv's interpreter. PYTHON_ALL=1 adds the slow ones. */
#include <check.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "share.h"
#include "skip.h"
#include "suites.h"

#define HOST "--device", "host"

static const char no_torch[] = "no interpreter with torch: make build/venv, or UNSEEN_TEST_PYTHON";

/* Nothing but the file that was there, whatever a failed import has begun. */
static void expect_nothing_left(const char *source)
{
    static const char *const kept[] = {".",       "..",      "tiny.space", "tiny.seen",
                                       "out.txt", "err.txt", "out",        "secret.txt"};
    DIR *directory = opendir(".");
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        bool known = strcmp(entry->d_name, source) == 0;
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            known = known || strcmp(entry->d_name, kept[i]) == 0;
        ck_assert_msg(known, "%s is left", entry->d_name);
    }
    closedir(directory);
    ck_assert_msg(rmdir("out") == 0, "something is left in --out");
    ck_assert(!cli_has_children());
}

/* --- tasks that are none; without torch --- */

#define HEAD "import torch\nimport torch.nn as nn\n"
#define MODEL "class Model(nn.Module):\n    def forward(self, x):\n        return x * 2\n"
#define INPUTS "n = 8\ndef get_inputs():\n    return [torch.rand(n, 2 * n)]\n"
#define INIT "def get_init_inputs():\n    return []\n"
#define REST HEAD MODEL INPUTS INIT

struct bad_task {
    const char *text, *found, *expected, *hint;
};

static const struct bad_task unread[] = {
    {HEAD INPUTS INIT, "bad.py has no Model", "class Model, get_inputs and get_init_inputs were", "write it"},
    {HEAD MODEL INIT, "bad.py has no get_inputs", "get_init_inputs were expected", "write it"},
    {HEAD MODEL INPUTS, "bad.py has no get_init_inputs", "get_init_inputs were expected", "write it"},
    {REST "def broken(:\n", "bad.py is no Python: line 11: ", "a task's source was expected", "correct it"},
    {HEAD "# caf\xe9\n" MODEL INPUTS INIT, "is no UTF-8: byte 40 is 0xe9", "a task's source",
     "save it as UTF-8"},
    {"", "bad.py is empty", "class Model, get_inputs and get_init_inputs were", "give the task's file"},
    {"\"\xef\xbb\"", "is no UTF-8: byte 1 is 0xef", "a task's source was expected", "save it as UTF-8"},
};

static void import_bad(const struct bad_task *task, const char *python, const char *seconds)
{
    cli_put("bad.py", task->text);
    ck_assert_int_eq(mkdir("out", 0755), 0);
    CLI("import", "./bad.py", "--out", "out", "--python", python, "--compile-timeout", seconds);
    cli_expect_error(2, task->found, task->expected, task->hint);
    expect_nothing_left("bad.py");
}

START_TEST(what_is_no_task_is_told_without_torch)
{
    if (system("python3 -I -c '' >/dev/null 2>&1") != 0)
        SKIP_TEST("no python3");
    import_bad(&unread[_i], "python3", "60");
}
END_TEST

START_TEST(a_directory_without_a_reference_is_refused)
{
    if (system("python3 -I -c '' >/dev/null 2>&1") != 0)
        SKIP_TEST("no python3");
    ck_assert_int_eq(mkdir("hard", 0755), 0);
    ck_assert_int_eq(mkdir("out", 0755), 0);
    CLI("import", "./hard", "--out", "out", "--python", "python3");
    cli_expect_error(2, "hard is a directory of no known form",
                     "kernelbench-hard (reference.py) was expected", "name its form with --as");
    expect_nothing_left("hard");
    cli_put("hard/reference.py", "x = 1\n");
    CLI("draw", "./hard", HOST, "--python", "python3"); /* imported on the fly */
    cli_expect_error(2, "reference.py has no Model", "get_init_inputs were expected", "write it");
}
END_TEST

/* --- tasks that cannot be run --- */

static const struct bad_task unrunnable[] = {
    {"import urllib.request\nurllib.request.urlopen('http://example.com/x', timeout=9)\n" REST,
     "it asks for the network, which is not there", "was expected", "put what it fetches into the file"},
    {"import socket\nsocket.create_connection(('192.0.2.1', 80), 9)\n" REST,
     "it asks for the network, which is not there", "was expected", "put what it fetches into the file"},
    {HEAD "import random\n" MODEL
          "def get_inputs():\n    return [torch.rand(random.randint(2, 999999), 4)]\n" INIT,
     "draws other shapes in another run", "were expected to follow from the source's sizes",
     "take chance out"},
    {HEAD "b = bytearray(100 << 30)\n" MODEL INPUTS INIT, "it takes more memory than the 32 GiB",
     "was expected", "give it smaller sizes"},
    {HEAD
     "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.b = "
     "torch.zeros(100 << 30, dtype=torch.uint8)\n    def forward(self, x):\n        return x\n" INPUTS INIT,
     "it takes more memory than the 32 GiB", "a Model that runs on a CPU was expected",
     "give it smaller sizes"},
    {HEAD "class Model(nn.Module):\n    def __init__(self):\n        raise KeyError('no such thing')\n" INPUTS
         INIT,
     "KeyError: 'no such thing'", "a Model that takes what get_inputs returns", "run it with its own check"},
    {HEAD "class Model(nn.Module):\n    def forward(self, x):\n        return 'text'\n" INPUTS INIT,
     "forward returned a str", "a tensor, or a tuple of tensors, was expected", "correct the task"},
    {HEAD "class Model(nn.Module):\n    def forward(self, x):\n        return [x, 7]\n" INPUTS INIT,
     "forward returned a list with a int", "a tensor, or a tuple of tensors, was expected",
     "correct the task"},
    {HEAD MODEL "def get_inputs():\n    return 3\n" INIT, "get_inputs returned a int", "a list was expected",
     ""},
    {HEAD MODEL "def get_inputs():\n    return []\n" INIT, "missing 1 required positional", "was expected",
     ""},
    {"import os\nos._exit(0)\n" REST, "bad.py was not imported: it ended the interpreter",
     "a module was expected", "__main__"},
    {"import sys\nsys.exit(0)\n" REST, "ends the process when it is imported", "a module was expected",
     "__main__"},
    {"import ctypes\nctypes.string_at(0)\n" REST, "killed by signal 11, a crash", "was not imported",
     "its own check"},
    {"import os\nopen(os.path.dirname(os.__file__) + '/x', 'w')\n" REST, "Read-only file system",
     "was expected", ""},
    {"open('/proc/self/cwd/secret.txt').read()\n" REST, "No such file or directory", "was expected", ""},
};
enum { UNRUNNABLE = sizeof unrunnable / sizeof *unrunnable };

START_TEST(a_task_that_cannot_run_is_told_why)
{
    if (!cli_torch())
        SKIP_TEST(no_torch);
    if (!getenv("PYTHON_ALL"))
        SKIP_TEST("PYTHON_ALL=1 runs it");
    cli_put("secret.txt", "of the user\n");
    import_bad(&unrunnable[_i], cli_torch(), "120");
}
END_TEST

START_TEST(a_task_that_hangs_is_ended)
{
    static const struct bad_task hangs[] = {
        {"while True:\n    pass\n" REST, "bad.py was not imported: it had not ended after 2 s",
         "a network, a prompt or a loop", "--compile-timeout SECONDS gives it longer"},
        {"import os, time\nif os.fork() == 0:\n    os.setsid()\ntime.sleep(9999)\n" REST,
         "had not ended after 2 s", "a network, a prompt or a loop",
         "--compile-timeout SECONDS gives it longer"}};
    if (!cli_torch())
        SKIP_TEST(no_torch);
    import_bad(&hangs[_i], cli_torch(), "2");
}
END_TEST

START_TEST(ctrl_c_leaves_nothing_of_an_import)
{
    if (!cli_torch())
        SKIP_TEST(no_torch);
    cli_put("slow.py", "import time\ntime.sleep(9999)\n" REST);
    ck_assert_int_eq(mkdir("out", 0755), 0);
    const pid_t pid = CLI_START("import", "slow.py", "--out", "out", "--python", cli_torch());
    usleep(1500000);
    kill(pid, SIGINT);
    cli_wait(pid);
    ck_assert_msg(cli.status == 130 && strstr(cli.err, "interrupted; nothing was written"), "%s", cli.err);
    expect_nothing_left("slow.py");
}
END_TEST

/* Its left processes, prints and files are not the tool's, and no failure. */
static const char *const odd[] = {
    "import os, subprocess, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(9999)\n"
    "subprocess.Popen(['sleep', '9999'])\n" REST,
    "import os, sys\nfor i in range(9999):\n    print('x' * 99)\n    sys.stderr.write('unseen-import: "
    "no\\n')\n"
    "os.write(1, b'z' * 99999)\n" REST,
    "import sys\nsys.stderr = sys.stdout = None\n" REST,
    "open('/tmp/left', 'w').write('x')\n" REST,
};

START_TEST(a_task_that_does_odd_things_leaves_nothing)
{
    if (!cli_torch())
        SKIP_TEST(no_torch);
    if (!getenv("PYTHON_ALL"))
        SKIP_TEST("PYTHON_ALL=1 runs it");
    cli_put("odd.py", odd[_i]);
    ck_assert_int_eq(mkdir("out", 0755), 0);
    CLI("import", "./odd.py", "--out", "out", "--python", cli_torch());
    cli_expect(0, "wrote out/odd");
    ck_assert_int_eq(strlen(cli.err), 0);
    ck_assert_int_eq(system("rm -r out/odd"), 0);
    expect_nothing_left("odd.py");
}
END_TEST

/* --- findings in a task --- */

static const struct {
    const char *name, *space[5], *task[4], *seen;
} found[] = {
    {"affine",
     {"# change inputs only\nlines ", "# change weights\nwidth ",
      "input  published signed wide needle integers"},
     {"\"kind\": \"scale\"", "\"kind\": \"bias\""},
     "lines=6 width=48 input=published"},
    {"gate",
     {"rows ", "cols ", "# change inputs only"},
     {"\"name\": \"b\""},
     "rows=24 cols=160 input=published"},
    {"product",
     {"# change inputs only\ncount ", "# change weights\ninside ", "outside ",
      "limit outside*inside <= 2^31"},
     {"\"kind\": \"other\"", "\"kind\": \"bias\""},
     "count=12 inside=40 outside=28 input=published"},
    {"window",
     {"# change inputs only\nimages ", "# change weights\nplanes_in ",
      "# window = 3 stays: an attribute: window, stride, padding or groups"},
     {"\"(high + 1)/2\"", "\"(wide + 1)/2\""},
     "images=3 high=20 wide=17 planes_in=4 planes_out=6 input=published"},
    {"two",
     {"height ", "length "},
     {"\"name\": \"y0\"", "\"name\": \"y1\"", "\"(length + 1)/2\""},
     "height=10 length=36 input=published"},
    {"lookup",
     {"entries ", "depth ", "asked "},
     {"\"domain\": \"index\"", "\"bound\": \"entries\"", "\"dtype\": \"int64\"", "\"kind\": \"index\""},
     "entries=50 depth=12 asked=9 input=published"},
    {"literals",
     {"inner ", "dim0_1 ", "dim1_2 ", "dim0_0_dim1_0 "},
     {"moves only together with"},
     "inner=20 dim0_1=14 dim1_2=10 dim0_0_dim1_0=3 input=published"},
    {"grouped",
     {"samples ", "points ", "channels ", "limit channels % 4 == 0", "# parts = 4 stays: "},
     {"\"step\": 4"},
     "samples=2 points=30 channels=24 input=published"},
};
enum { FOUND = sizeof found / sizeof *found };

static void expect_in(const char *path, const char *part)
{
    ck_assert_msg(!part || strstr(cli_text(path), part), "no '%s' in:\n%s", part, cli_text(path));
}

static void import_by(int i, const char *python)
{
    char source[200], path[200];
    snprintf(source, sizeof source, "tests/python/tasks/%s.py", found[i].name);
    CLI("import", cli_repository(source), "--python", python);
    cli_expect(0, found[i].name);
    for (int k = 0; k < 5; k++) {
        snprintf(path, sizeof path, "%s/%s.space", found[i].name, found[i].name);
        expect_in(path, found[i].space[k]);
    }
    for (int k = 0; k < 4; k++) {
        snprintf(path, sizeof path, "%s/%s.task", found[i].name, found[i].name);
        expect_in(path, found[i].task[k]);
    }
    snprintf(path, sizeof path, "%s/%s.seen", found[i].name, found[i].name);
    expect_in(path, found[i].seen);
}

static void import_one(int i)
{
    import_by(i, cli_torch());
}

START_TEST(importing_finds_sizes_limits_and_laws)
{
    char folder[100];
    if (!cli_torch())
        SKIP_TEST(no_torch);
    if (!getenv("PYTHON_ALL"))
        SKIP_TEST("PYTHON_ALL=1 runs it");
    import_one(_i);
    snprintf(folder, sizeof folder, "./%s", found[_i].name);
    CLI("draw", folder, HOST, "--unseen", "12", "--seed", "5");
    cli_expect(0, "input=");
}
END_TEST

/* A KernelBench-Hard directory: several published sets, a tolerance for each dtype. */
START_TEST(a_directory_has_its_own_seen_set_and_tolerance)
{
    if (!cli_torch())
        SKIP_TEST(no_torch);
    if (!getenv("PYTHON_ALL"))
        SKIP_TEST("PYTHON_ALL=1 runs it");
    ck_assert_int_eq(mkdir("hard", 0755), 0);
    cli_put(
        "hard/reference.py", HEAD
        "class Model(nn.Module):\n    def __init__(self, ROWS, N, best):\n        super().__init__()\n"
        "        self.best = best\n    def forward(self, x):\n        return torch.topk(x, self.best)[0]\n"
        "ROWS = 4\nN = 24\nbest = 3\ndef get_inputs():\n    return [torch.randn(ROWS, N)]\n"
        "def get_init_inputs():\n    return [ROWS, N, best]\n");
    cli_put("hard/shapes.py",
            "SHAPES = [{'ROWS': 4, 'N': 24, 'best': 3}, {'ROWS': 2, 'N': 700, 'BEST': 9}]\n");
    cli_put("hard/problem.yaml", "name: hard\ntolerance:  # of the check\n  torch.float32: 2.5e-3  # wide\n\n"
                                 "  bfloat16: {atol: 1, rtol: 2}\nsota:\n  float32: 7\n");
    CLI("import", "./hard", "--python", cli_torch());
    ck_assert_msg(cli.status == 2, "%s", cli.out); /* hard is there already */
    CLI("import", "./hard", "--out", "out/deep", "--python", cli_torch());
    cli_expect_error(2, "cannot make a folder in out/deep: ", "a new one's name in a directory that is there",
                     "make it");
    CLI("import", "./hard", "--out", "out", "--python", cli_torch());
    cli_expect(0, "wrote out/hard");
    expect_in("out/hard/hard.seen",
              "\nROWS=4 N=24 best=3 input=published\nROWS=2 N=700 best=9 input=published\n");
    expect_in("out/hard/hard.space", "# attributes\nbest ");
    expect_in("out/hard/hard.space", "limit best <= N");
    expect_in("out/hard/README.md",
              "problem.yaml, line 5: 'bfloat16: {atol: 1, rtol: 2}'; a dtype and a number were");
    CLI("describe", "./out/hard");
    cli_expect(0, "0.0025");
    CLI("draw", "./hard", HOST, "--seen", "--python", cli_torch()); /* on the fly, as a problem */
    cli_expect(0, "ROWS=4 N=24 best=3 input=published");
}
END_TEST

START_TEST(importing_tells_what_inputs_are_computed)
{
    SHARE_TEST(_i, 9);
    static const char *const files[] = {"import", "import_inputs", "import_laws", "placing",
                                        "import_decisions"};
    char command[300];
    if (!cli_torch())
        SKIP_TEST(no_torch);
    snprintf(command, sizeof command, "'%s' '%s/test_%s.py'", cli_torch(), cli_repository("tests/python"),
             files[_i]);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* --- solutions --- */

#define NEW(forward)                                                                                         \
    "import torch\nclass ModelNew(torch.nn.Module):\n    def __init__(self, width):\n"                       \
    "        super().__init__()\n        self.norm = torch.nn.LayerNorm(width)\n    def forward(self, x):\n" \
    "        d = x - x.mean(-1, keepdim=True)\n        y = d * torch.rsqrt((d * d).mean(-1, keepdim=True) "  \
    "+ 1e-5)"                                                                                                \
    "\n        y = y * self.norm.weight + self.norm.bias\n        " forward "\n"

/* For importing, for candidates and for right answers alike. */
static const char *chooser(void)
{
    char lines[600];
    snprintf(lines, sizeof lines, "#!/bin/sh\necho choosing a version >&2\nexec '%s' \"$@\"\n", cli_torch());
    cli_put("any-python", lines);
    ck_assert_int_eq(chmod("any-python", 0755), 0);
    return "./any-python";
}

/* An honest one and one that stops at the last whole tile, both on the imported task, by an interpreter that
 * is a script and chooses one. */
START_TEST(an_honest_solution_is_general_and_a_lost_tail_is_found)
{
    if (!cli_torch())
        SKIP_TEST(no_torch);
    import_by(0, chooser());
    cli_put("one.seen", "lines=6 width=48 input=published\n");
    cli_put("honest.py", NEW("return y"));
    cli_put("tail.py", NEW("whole = y.shape[-1] // 16 * 16\n        z = torch.zeros_like(y)\n        "
                           "z[:, :whole] = y[:, :whole]\n        return z"));
#define ON                                                                                                   \
    "--no-timing", HOST, "--seen", "one.seen", "--unseen", "8", "--seed", "3", "--python", "./any-python"
    CLI("verify", "./affine", "honest.py", ON);
    cli_expect(0, "general: ");
    CLI("verify", "./affine", "tail.py", "--no-explain", ON);
    cli_expect(1, "specialized: it passes 1 of 1 configurations");
    ck_assert(!cli_has_children());
    if (!getenv("PYTHON_ALL"))
        return;
    CLI("verify", cli_repository("tests/python/tasks/affine.py"), "honest.py", ON); /* imported on the fly */
    cli_expect(0, "general: ");
}
END_TEST

static const struct {
    const char *text;
    int status;
    const char *words;
} solutions[] = {
    {NEW("return y"), 0, "pass: "},
    {NEW("return [y]"), 1, "returned a list; expected a torch.Tensor, y float32 [5, 7]"},
    {NEW("return y.to(torch.bfloat16)"), 1,
     "returned a tensor of bfloat16; expected a torch.Tensor, y float32"},
    {NEW("return torch.cat([y, y], 1)[:, :y.shape[1]]"), 0, "pass: "}, /* a view, of its own memory */
    {NEW("x.copy_(y); return x"), 1, "modified"},
    {NEW("return y.t()"), 1, "returned a tensor of the shape [7, 5]"},
    {"import torch\ndef one(x):\n    return x\ndef two(x):\n    return x\n", 2, "no class ModelNew or Model"},
    {"import torch\nclass ModelNew(torch.nn.Module):\n    def __init__(self, width, more):\n        "
     "super().__init__()\n",
     1, "raised TypeError: ModelNew.__init__() missing 1 required positional argument: 'more'"},
    {"import torch\nclass ModelNew(torch.nn.Module):\n    def __init__(self, width):\n        "
     "super().__init__()\n        self.w = torch.nn.Parameter(torch.zeros(width))\n    def forward(self, "
     "x):\n"
     "        return x\n",
     1, "ModelNew has no place for the weight 'norm.weight' of shape [7]; it has w [7]"},
    {"import torch\nclass ModelNew(torch.nn.Module):\n    def __init__(self, width):\n        "
     "super().__init__()\n        self.norm = torch.nn.LayerNorm(width)\n",
     1, "raised NotImplementedError: "},
    {"import torch\nclass ModelNew:\n    def __init__(self, width):\n        pass\n", 1, "raised "},
};
enum { SOLUTIONS = sizeof solutions / sizeof *solutions };

START_TEST(a_solution_is_told_what_is_wrong_with_it)
{
    if (!cli_torch())
        SKIP_TEST(no_torch);
    if (!getenv("PYTHON_ALL"))
        SKIP_TEST("PYTHON_ALL=1 runs it");
    import_one(0);
    for (int i = 0; i < SOLUTIONS; i++) {
        cli_put("solution.py", solutions[i].text);
        CLI("check", "./affine", "solution.py", "lines=5 width=7 input=signed seed=3", HOST, "--python",
            cli_torch());
        if (solutions[i].status == 2)
            cli_expect_error(2, solutions[i].words, "", "--entry NAME");
        else
            cli_expect(solutions[i].status, solutions[i].words);
        ck_assert(!cli_has_children());
    }
}
END_TEST

/* No import tries all sizes: here one in their midst does not work. */
START_TEST(where_the_task_itself_does_not_run_nobody_needs_to)
{
    SHARE_TEST(0, 3);
#define ODD                                                                                                  \
    "import torch\nclass %s(torch.nn.Module):\n    def forward(self, x):\n"                                  \
    "        if x.shape[0] %% 16 == 9 and x.shape[0] > 25:\n            raise ValueError('no such number "   \
    "of "                                                                                                    \
    "lines')\n        return x * 2\n"
    char task[1000], solution[600];
    if (!cli_torch())
        SKIP_TEST(no_torch);
    snprintf(task, sizeof task,
             ODD "lines = 3\ndef get_inputs():\n    return [torch.rand(lines, 7)]\n"
                 "def get_init_inputs():\n    return []\n",
             "Model");
    snprintf(solution, sizeof solution, ODD, "ModelNew");
    cli_put("odd.py", task);
    cli_put("same.py", solution);
    cli_put("never.py", "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
                        "        raise ValueError('never')\n");
    CLI("import", "odd.py", "--python", cli_torch());
    cli_expect(0, "wrote ");
#define AT(lines) "lines=" lines " dim0_1=7 input=published seed=3", HOST, "--python", cli_torch()
    CLI("check", "./odd", "same.py", AT("41"));
    cli_expect(1, "skipped: ");
    cli_expect(1, "the task's own model does not run here: ValueError: no such number of lines");
    CLI("check", "./odd", "never.py", AT("40"));
    cli_expect(1, "refused: ");
    CLI("check", "./odd", "same.py", AT("40"));
    cli_expect(0, "pass: ");
}
END_TEST

Suite *task_suite(void)
{
    Suite *suite = suite_create("task");
    TCase *sources = tcase_create("sources"), *refused = tcase_create("refused"),
          *found_cases = tcase_create("found"), *judged = tcase_create("judged");
    TCase *const all[] = {sources, refused, found_cases, judged};
    tcase_add_loop_test(sources, what_is_no_task_is_told_without_torch, 0, sizeof unread / sizeof *unread);
    tcase_add_test(sources, a_directory_without_a_reference_is_refused);
    tcase_add_loop_test(refused, a_task_that_hangs_is_ended, 0, 2);
    tcase_add_test(refused, ctrl_c_leaves_nothing_of_an_import);
    tcase_add_loop_test(refused, a_task_that_cannot_run_is_told_why, 0, UNRUNNABLE);
    tcase_add_loop_test(refused, a_task_that_does_odd_things_leaves_nothing, 0, sizeof odd / sizeof *odd);
    tcase_add_loop_test(found_cases, importing_finds_sizes_limits_and_laws, 1, FOUND);
    tcase_add_test(found_cases, a_directory_has_its_own_seen_set_and_tolerance);
    tcase_add_loop_test(found_cases, importing_tells_what_inputs_are_computed, 0, 5);
    tcase_add_test(judged, an_honest_solution_is_general_and_a_lost_tail_is_found);
    tcase_add_test(judged, where_the_task_itself_does_not_run_nobody_needs_to);
    tcase_add_test(judged, a_solution_is_told_what_is_wrong_with_it);
    for (int i = 0; i < 4; i++) {
        tcase_add_checked_fixture(all[i], cli_setup, cli_teardown);
        tcase_set_timeout(all[i], 300);
        suite_add_tcase(suite, all[i]);
    }
    return suite;
}
