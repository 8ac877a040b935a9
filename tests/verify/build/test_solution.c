/* Candidates in Python of several files: a solution in JSON, a folder. Part of the suite `python`. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "skip.h"
#include "suites.h"

#define POINT "rows=7 cols=333 seed=5"

static const char no_torch[] = "no interpreter with torch: make build/venv, or UNSEEN_TEST_PYTHON";

/* --- JSON --- */

START_TEST(a_solution_in_json_is_unpacked_and_run)
{
    if (!cli_torch())
        SKIP_TEST(no_torch);
    cli_put("solution.json",
            "{\"name\": \"s\", \"spec\": {\"language\": \"python\", \"entry_point\": \"main.py::run\", "
            "\"destination_passing_style\": true}, \"sources\": [{\"path\": \"main.py\", \"content\": "
            "\"import torch\\nimport part\\ndef run(a, b):\\n    b.copy_(part.f(a))\\n\"}, {\"path\": "
            "\"part.py\", \"content\": \"import torch\\ndef f(a):\\n    return torch.softmax(a, -1)\\n\"}]}");
    CLI("check", "softmax", "solution.json", POINT, "--device", "host", "--python", cli_torch());
    cli_expect(0, "pass: ");
}
END_TEST

/* Files with the name of every module of unseen_torch, flat in JSON and in folders like ours. They are for a
 * problem and for an imported task, whose adapter is loaded beside them. */
static const struct {
    const char *solution, *problem, *entry, *point;
} named_alike[] = {{"flat_softmax.json", "softmax", NULL, POINT},
                   {"tree_softmax", "softmax", "entry.py:softmax", POINT},
                   {"flat_ModelNew.json", "tests/task/row_scale", NULL, "rows=3 cols=5 input=signed seed=1"},
                   {"tree_ModelNew", "tests/task/row_scale", NULL, "rows=3 cols=5 input=signed seed=1"}};
enum { NAMED_ALIKE = sizeof named_alike / sizeof *named_alike };

START_TEST(files_may_have_the_names_of_ours)
{
    char command[1200];
    if (!cli_torch())
        SKIP_TEST(no_torch);
    snprintf(command, sizeof command, "'%s' -B '%s' .", cli_torch(),
             cli_repository("tests/python/own_names.py"));
    ck_assert_int_eq(system(command), 0);
    const char *const problem = strchr(named_alike[_i].problem, '/') ? cli_repository(named_alike[_i].problem)
                                                                     : named_alike[_i].problem;
    if (named_alike[_i].entry)
        CLI("check", problem, named_alike[_i].solution, named_alike[_i].point, "--device", "host", "--python",
            cli_torch(), "--entry", named_alike[_i].entry);
    else
        CLI("check", problem, named_alike[_i].solution, named_alike[_i].point, "--device", "host", "--python",
            cli_torch());
    cli_expect(0, "pass: ");
}
END_TEST

/* --- folders --- */

#define SOFTMAX "import torch\ndef softmax(x):\n    return torch.softmax(x, -1)\n"
#define FALSE_SOFTMAX "import torch\ndef softmax(x):\n    return x\n"

struct laid {
    const char *path, *text;
};

/* The files of the folder `solution`, the name of its entry, and the expected words; status 0 means a right
 * one. */
static const struct {
    struct laid file[5];
    const char *entry, *words, *more, *hint;
    int status;
} folders[] = {
    {{{"main.py", "from .part import f\nfrom inner import g\ndef softmax(x):\n    return g(f(x))\n"},
      {"part.py", "import torch\ndef f(x):\n    return torch.softmax(x, -1)\n"},
      {"inner/__init__.py", "from .deep import g\n"},
      {"inner/deep.py", "def g(x):\n    return x\n"}},
     NULL,
     "pass: ",
     "",
     "",
     0},
    {{{"__init__.py", "from .kernel_of_mine import softmax\n"}, {"kernel_of_mine.py", SOFTMAX}},
     NULL,
     "pass: ",
     "",
     "",
     0},
    {{{"kernel.py", SOFTMAX}, {"main.py", "print('a demonstration')\n"}, {"setup.py", ""}},
     NULL,
     "pass: ",
     "",
     "",
     0},
    {{{"anything.py", SOFTMAX}, {"helper.py", "n = 1\n"}}, NULL, "pass: ", "", "", 0},
    {{{"a.py", FALSE_SOFTMAX},
      {"deep/b.py", "from a import softmax as other\nimport torch\ndef right(x):\n"
                    "    return torch.softmax(x, -1)\n"}},
     "deep/b.py:right",
     "pass: ",
     "",
     "",
     0},
    {{{"solution.json", "{\"spec\": {\"entry_point\": \"b.py::run\", \"destination_passing_style\": true}}"},
      {"main.py", FALSE_SOFTMAX},
      {"b.py", "import torch\ndef run(x, y):\n    y.copy_(torch.softmax(x, -1))\n"}},
     NULL,
     "pass: ",
     "",
     "",
     0},
    /* torch's modules keep their names; relative imports find the solution's own */
    {{{"main.py",
       "import torch\nfrom . import json, types\nassert json.mine and types.mine\ndef softmax(x):\n"
       "    return torch.softmax(x, -1)\n"},
      {"json.py", "mine = True\n"},
      {"types.py", "mine = True\n"},
      {"torch.py", "raise RuntimeError('not torch')\n"},
      {"struct.py", "raise RuntimeError('not struct')\n"}},
     NULL,
     "pass: ",
     "",
     "",
     0},
    {{{"main.py", "from json import mine\n" SOFTMAX}, {"json.py", "mine = True\n"}},
     NULL,
     "cannot import name 'mine' from 'json'",
     "json.py has the name of a module that is loaded before it",
     "rename it",
     2},
    {{{"main.py", SOFTMAX}, {"kernel.py", FALSE_SOFTMAX}},
     NULL,
     "found main.py, kernel.py, any of which may be the entry",
     "a folder with one of solution.py",
     "--entry FILE:NAME",
     2},
    {{{"x.c", "int x;\n"}},
     NULL,
     "solution is a directory without a .py file",
     "expected one .c",
     "--entry FILE:NAME",
     2},
    {{{"main.py", SOFTMAX}},
     "other.py:softmax",
     "--entry other.py:softmax: found no such .py file in solution",
     "FILE:NAME was expected",
     "check its name",
     2},
    {{{"main.py", SOFTMAX}},
     "../m.py:softmax",
     "--entry ../m.py:softmax: found no such .py file in solution",
     "FILE:NAME was expected",
     "check its name",
     2},
    {{{"solution.json", "{\"spec\": {\"entry_point\": \"b.py::run\"}}"}, {"main.py", SOFTMAX}},
     NULL,
     "its entry file b.py is not there",
     "a .py file in that folder was expected",
     "--entry FILE:NAME",
     2},
};
enum { FOLDERS = sizeof folders / sizeof *folders };

static void lay(const struct laid *file)
{
    char path[300];
    snprintf(path, sizeof path, "solution/%s", file->path);
    char *const slash = strrchr(path, '/');
    *slash = '\0';
    mkdir("solution", 0755);
    mkdir(path, 0755);
    *slash = '/';
    cli_put(path, file->text);
}

START_TEST(a_folder_is_a_solution)
{
    if (!cli_torch())
        SKIP_TEST(no_torch);
    for (int i = 0; i < 5 && folders[_i].file[i].path; i++)
        lay(&folders[_i].file[i]);
    cli_put("m.py", SOFTMAX);
    if (folders[_i].entry)
        CLI("check", "softmax", "solution", POINT, "--device", "host", "--python", cli_torch(), "--entry",
            folders[_i].entry);
    else
        CLI("check", "softmax", "solution", POINT, "--device", "host", "--python", cli_torch());
    if (folders[_i].status == 0)
        cli_expect(0, folders[_i].words);
    else
        cli_expect_error(folders[_i].status, folders[_i].words, folders[_i].more, folders[_i].hint);
}
END_TEST

START_TEST(a_folder_with_a_link_is_refused_and_its_hash_is_of_all_files)
{
    char first[80], command[1400];
    if (!cli_torch())
        SKIP_TEST(no_torch);
    for (int i = 0; i < 2; i++) {
        lay(&(struct laid){"main.py", SOFTMAX});
        lay(&(struct laid){"part.py", i ? "n = 1\n" : "n = 2\n"});
        lay(&(struct laid){".hidden", i ? "a" : "b"});
        CLI("verify", "softmax", "solution", "--device", "host", "--python", cli_torch(), "--no-timing",
            "--unseen", "1", "--small", "0", "--seed", "1", "--no-explain", "--json", "r.json", "-q");
        json_t *const root = json_load_file("r.json", 0, NULL);
        const char *const hash =
            json_string_value(json_object_get(json_object_get(root, "candidate"), "sha256"));
        ck_assert_ptr_nonnull(hash);
        ck_assert_uint_eq(strlen(hash), 64);
        if (i)
            ck_assert_str_ne(hash, first);
        snprintf(first, sizeof first, "%s", hash);
        json_decref(root);
    }
    snprintf(command, sizeof command, "ln -s /etc/passwd solution/x");
    ck_assert_int_eq(system(command), 0);
    CLI("check", "softmax", "solution", POINT, "--device", "host", "--python", cli_torch());
    cli_expect_error(2, "solution/x is a link", "a folder of regular files was expected",
                     "put the file itself");
}
END_TEST

START_TEST(a_solution_that_leads_out_of_its_folder_is_refused)
{
    cli_put("solution.json", "{\"spec\": {\"entry_point\": \"main.py::run\"}, \"sources\": [{\"path\": "
                             "\"../main.py\", \"content\": \"\"}]}");
    CLI("check", "softmax", "solution.json", POINT, "--device", "host");
    cli_expect_error(2, "a source without a path inside of its folder", "", "a solution has `sources`");
}
END_TEST

TCase *python_solutions_case(void)
{
    TCase *solutions = tcase_create("solutions");
    tcase_set_timeout(solutions, 300);
    tcase_add_checked_fixture(solutions, cli_setup, cli_teardown);
    tcase_add_test(solutions, a_solution_in_json_is_unpacked_and_run);
    tcase_add_test(solutions, a_solution_that_leads_out_of_its_folder_is_refused);
    tcase_add_loop_test(solutions, files_may_have_the_names_of_ours, 0, NAMED_ALIKE);
    tcase_add_loop_test(solutions, a_folder_is_a_solution, 0, FOLDERS);
    tcase_add_test(solutions, a_folder_with_a_link_is_refused_and_its_hash_is_of_all_files);
    return solutions;
}
