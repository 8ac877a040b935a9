/* unseen: does a GPU kernel still work, and is it still fast, on configurations its author never saw? */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd_lane.h"
#include "options.h"
#include "problems/suggest.h"
#include "reports/record/program.h"
#include "reports/record/text.h"
#include "verify/batch/lane.h"
#include "verify/build/scratch.h"
#include "verify/device/processors.h"
#include "verify/worker/child.h"
#include "verify/sandbox/child_table.h"
#include "verify/util/exhausted.h"

#define STATUSES                                                                                             \
    "Exit status: 0 the candidate is general, 1 any other verdict, 2 bad usage or "                          \
    "input, or a candidate that does not compile or load, 3 the environment cannot do it, 130 interrupted."

#ifdef SANITIZED
/* --help ends by exit(), while argp still holds its lists. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:argp_hol\nleak:make_hol\n";
}

const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}
#endif

static const struct command commands[] = {
    {"list", "", 0, 0, "List the problems, one line each.", command_list},
    {"describe", "PROBLEM", 1, 1,
     "Print axes, contract, input classes, tensors and arithmetic of a problem; with --header, the C header "
     "that a candidate may include.",
     command_describe},
    {"draw", "PROBLEM [CANDIDATE]", 1, 2,
     "Draw the seen and the unseen set and print them, one configuration per line, with the reason of each. "
     "With CANDIDATE also the configurations for conditions in its code, which is compiled and not run.",
     command_draw},
    {"export", "PROBLEM", 1, 1,
     "Draw the seen and the unseen set and write them for other programs: values, reasons, shapes and types "
     "of tensors, and on request inputs.\v"
     "For example:\n"
     "  unseen export softmax --unseen 40 --format python --out shapes.py\n"
     "  unseen export softmax --unseen 8 --format json --inputs inputs\n\n"
     "Exit status: 0 written, 2 bad usage or input, 3 the environment cannot do it.",
     command_export},
    {"verify", "PROBLEM CANDIDATE", 2, 2,
     "Run CANDIDATE (.c, .cpp, .cu, .so, .py, .json or a folder) on the seen and on an unseen set, judge "
     "every output element, and say whether it is general.\v"
     "For example:\n"
     "  unseen verify softmax kernel.cu --effort quick\n"
     "  unseen verify softmax kernel.c --device host --json result.json\n"
     "\n" STATUSES,
     command_verify},
    {"batch", "[PROBLEM [CANDIDATE...]]", 0, ARGUMENTS_MAX,
     "Give each CANDIDATE the verdict of `unseen verify`, several at a time. A folder stands for the "
     "candidates in "
     "it. A JSON line is written for each as soon as it is known, and a summary at the end.\v"
     "For example:\n"
     "  unseen batch softmax kernels --device host --out results.jsonl\n"
     "  unseen batch --list list.jsonl --out results.jsonl --resume\n\n"
     "Exit status: 0 every candidate is general (--accept limited: or limited), 1 some are not, 2 bad usage "
     "or "
     "input, 3 the machine left some without a verdict, 130 interrupted: --resume goes on.",
     command_batch},
    {"check", "PROBLEM CANDIDATE CONFIGURATION", 3, 3,
     "Run CANDIDATE on one configuration, such as 'rows=3 cols=4099 seed=91'.\v"
     "Exit status: 0 it passes, 1 it does not, 2 bad usage or input, 3 the environment cannot do it, 130 "
     "interrupted.",
     command_check},
    {"shrink", "PROBLEM CANDIDATE CONFIGURATION", 3, 3,
     "Find the simplest configuration on which CANDIDATE fails in the same way as on CONFIGURATION.\v"
     "For example:\n"
     "  unseen shrink softmax kernel.cu 'rows=37 cols=4099 seed=91'\n\n"
     "Exit status: 1 it fails, and the smallest failure is printed; 2 bad usage or input, or it passes; 3 "
     "the environment cannot do it; 130 interrupted, and the smallest failure so far is printed.",
     command_shrink},
    {"cover", "PROBLEM CANDIDATE", 2, 2,
     "Call an instrumented build of CANDIDATE (.c, .cpp) on the drawn configurations, and list the branches "
     "of its code that none of them takes. Nothing is judged.\v"
     "For example:\n"
     "  unseen cover softmax kernel.c --device host --min-coverage 90\n\n"
     "Exit status: 0 listed, 1 fewer branches than --min-coverage asks for, 2 bad usage or input, 3 the "
     "environment cannot do it, 130 interrupted.",
     command_cover},
    {"pin", "PROBLEM CONFIGURATION", 2, 2,
     "Add CONFIGURATION to the failures that `verify` runs first.\v"
     "Exit status: 0 kept, 2 bad usage or input, 3 the file cannot be written.",
     command_pin, "freeze"},
    {"history", "[PROBLEM|CANDIDATE]", 0, ARGUMENTS_MAX,
     "List verdicts over time, newest first, from a database that `verify --db FILE` wrote.\v"
     "For example:\n"
     "  unseen verify softmax kernel.cu --db runs.db\n"
     "  unseen history softmax --db runs.db --plot softmax.svg\n"
     "  unseen history --db runs.db --import results/a.json results/b.json\n\n"
     "Exit status: 0 shown or imported, 2 bad usage or input, 3 the database cannot be read or written.",
     command_history},
    {"audit", "PROBLEM", 1, 1,
     "Run null outputs (zeros, a constant, half of the work, ..) through the published check and through "
     "ours; for a task in Python, through its own check.\v"
     "Exit status: 0 ours accepts none of them on any configuration, 1 ours accepts one, 2 bad usage or "
     "input, 3 the environment cannot do it, 130 interrupted.",
     command_audit},
    {"new", "NAME", 1, 1,
     "Make a folder for a problem of your own, as a copy of another one. Any command takes a folder in the "
     "place of a problem's name.\v"
     "For example:\n"
     "  unseen new my_norm --like rms_norm\n"
     "  unseen new my_gather --form elements\n"
     "  unseen verify ./my_norm my_norm/baseline.c --device host",
     command_new},
    {"import", "TASK", 1, 1,
     "Make a problem's folder from a task in Python: a KernelBench file (Model, get_inputs, get_init_inputs) "
     "or a KernelBench-Hard directory. The task is executed, in the sandbox. With --shapes, TASK is a "
     "problem, and its seen set is made from captured shapes.\v"
     "For example:\n"
     "  unseen import level1/67_conv_standard_1D.py --python venv/bin/python\n"
     "  unseen import rms_norm --shapes profile.json --op aten::rms_norm --out production.seen\n\n"
     "Exit status: 0 written, 1 some captured shapes do not fit, 2 the task cannot be imported or no shape "
     "fits, 3 there is no interpreter with torch, or no room.",
     command_import},
    {"harden", "TASK", 1, 1,
     "Write at most 12 shapes, with inputs and tolerances, that reject null outputs and planted faults of a "
     "task in Python (a .py file, or a folder that unseen import made). KernelBench, KernelBench-Hard, "
     "FlashInfer-Bench and gpu-mode can read them. The task is executed, in the sandbox.\v"
     "For example:\n"
     "  unseen harden level1/23_Softmax.py --out hardened --python venv/bin/python\n\n"
     "Exit status: 0 written, 2 bad usage or input, or no size of the task can vary, or it has no reference, "
     "3 the environment cannot do it, 130 interrupted.",
     command_harden},
    {"selftest", "PROBLEM", 1, 1,
     "Test a problem's definition: enclosures against MPFR, right and slightly wrong outputs, null outputs, "
     "its own kernels, its seen set, and what each input class can detect.\v"
     "Exit status: 0 every check passed, 1 a check failed, 2 bad usage or input, 3 the environment cannot do "
     "it, 130 interrupted.",
     command_selftest, "prove"},
    {"report", "RESULT.json...", 1, ARGUMENTS_MAX,
     "Print the terminal's report of results that verify --json wrote, or write other reports; several "
     "results stand side by side.\v"
     "For example:\n"
     "  unseen report before.json after.json --html report.html\n\n"
     "Exit status: 0 every candidate is general (--accept limited: or limited), 1 some are not, 2 bad usage "
     "or input, 3 the environment cannot do it.",
     command_report},
    {"compare", "[PROBLEM] OLD NEW", 2, 3,
     "Find out whether NEW is worse than OLD. Takes two candidates, which are checked and timed now in turns "
     "(PROBLEM OLD NEW); two stored results (OLD.json NEW.json); or a candidate and a stored result (PROBLEM "
     "CANDIDATE --against OLD.json).\v"
     "For example:\n"
     "  unseen compare softmax old.cu new.cu --effort quick\n\n"
     "Exit status: 0 nothing is known to be worse, 1 something is worse, or too little is known, 2 bad usage "
     "or input, 3 the environment cannot do it, 130 interrupted.",
     command_compare},
    {"calibrate", "", 0, 0,
     "Measure what the hardware can do, print it beside the vendor's figures, and keep it for verify, check "
     "and compare.\v"
     "Exit status: 0 measured and kept, 2 bad usage, or the file is another's, 3 the environment cannot do "
     "it, 130 interrupted.",
     command_calibrate, "peak"},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_usage(FILE *out)
{
    enum { INDENT = 6, ROOM = 1024 };
    char text[ROOM];
    fprintf(out, "Usage: unseen COMMAND [ARGUMENT...] [OPTION...]\n\n");
    for (int i = 0; i < COMMANDS; i++) {
        fprintf(out, "  unseen %s%s%s\n%*s", commands[i].name, *commands[i].arguments ? " " : "",
                commands[i].arguments, INDENT, "");
        snprintf(text, sizeof text, "%.*s", (int)strcspn(commands[i].doc, "\v"), commands[i].doc);
        text_wrap(out, INDENT, INDENT, text);
    }
    fprintf(out, "\n`unseen COMMAND --help` lists the options of a command.\n");
    text_wrap(out, 0, 0, STATUSES);
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

/* Restarts the process with OMP_WAIT_POLICY=passive, since libgomp reads its environment before main. By
 * default waiting threads spin for milliseconds, so several tools on one machine take the cores from each
 * other. Without any spinning, each barrier of a team that evaluates a recurrence step by step would put
 * threads to sleep. A few thousand spins halve the witness's time of kda (doc/results/cost.md).
 * If the restart fails, the process goes on. */
static void wait_passively(char **argv)
{
    static const char spins[] = "5000";
    char self[1024];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (getenv("OMP_WAIT_POLICY") || length <= 0 || setenv("OMP_WAIT_POLICY", "passive", 1) != 0 ||
        setenv("GOMP_SPINCOUNT", spins, 0) != 0)
        return;
    self[length] = '\0';
    execv(self, argv);
}

static const struct command *find_command(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0 || (commands[i].old && strcmp(name, commands[i].old) == 0))
            return &commands[i];
    struct suggestion near = {.word = name};
    char meant[80];
    for (int i = 0; i < COMMANDS; i++)
        suggest_offer(&near, commands[i].name);
    options_error(
        "unknown command '%s'%s; expected list, describe, draw, export, verify, check, shrink, cover, pin, "
        "history, audit, harden, selftest, new, import, batch, compare, report or calibrate\n"
        "---> unseen --help says what each does",
        name, suggest_text(&near, meant, sizeof meant));
    return NULL;
}

/* unseen help [COMMAND] */
static int help(int argc, char **argv)
{
    char option[] = "--help";
    if (argc < 3 || *argv[2] == '-') {
        print_usage(stdout);
        return EXIT_GENERAL;
    }
    const struct command *const command = find_command(argv[2]);
    return command ? options_run(command, 2, (char *[]){argv[2], option, NULL}, NULL) : EXIT_USAGE;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (is_one_of(argv[1], "--help", "--usage", "-?") || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return help(argc, argv);
    if (is_one_of(argv[1], "--version", "-V", "version")) {
        printf("unseen %s (%s)\n", UNSEEN_VERSION, unseen_git);
        return EXIT_GENERAL;
    }
    if (strcmp(argv[1], lane_command) == 0)
        return lane_serve(find_command("verify"), argc > 2 ? argv[2] : "");
    const struct command *const command = find_command(argv[1]);
    return command ? options_run(command, argc - 1, argv + 1, NULL) : EXIT_USAGE;
}

static void leave_nothing(void)
{
    child_stop_all();
    scratch_remove_all();
}

int main(int argc, char **argv)
{
    wait_passively(argv);
    program_remember(argv);
    exhausted_prepare(EXIT_ENVIRONMENT, leave_nothing);
    omp_set_num_threads(processors_available());
    return exhausted_done(run(argc, argv));
}
