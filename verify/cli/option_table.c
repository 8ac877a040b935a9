#include "option_table.h"

#include <string.h>

#include "reports/formats/writers.h"

#define FIELD(name) .field = offsetof(struct options, name), .size = sizeof((struct options *)0)->name
#define GIVEN(name) .given = offsetof(struct options, name)
#define CLEARS(name) .cleared = offsetof(struct options, name)

/* Commands that take the same options. */
#define DRAWING " draw export verify batch cover audit harden compare "
#define ONE_CANDIDATE " verify batch check shrink cover compare "
#define INTERPRETER " describe draw export verify batch check shrink audit import harden compare "
#define COMPILING " verify batch check shrink cover audit import harden compare "

static const char *const efforts[] = {"quick", "standard", "deep", NULL};
static const char *const training_efforts[] = {"quick", "standard", "deep", "reward", NULL};
static const char *const accepted[] = {"general", "limited", NULL};
static const char *const tolerances[] = {"exact", "published", NULL};
static const char *const colors[] = {"auto", "always", "never", NULL};

static const char any_number[] = "--unseen N draws any other number of configurations";
static const uint64_t exact_in_json = ((uint64_t)1 << 53) - 1;

/* clang-format off */
static const struct option_row rows[] = {
    {"device", "DEVICE", OPTION_TEXT, FIELD(device),
     .commands = " draw export verify batch check shrink cover audit harden selftest compare calibrate ",
     .help = "host, cuda or cuda:N (default: cuda where there is a GPU)"},
    {"seen", "FILE", OPTION_TEXT, FIELD(seen),
     .commands = " export verify batch cover audit harden selftest compare ",
     .help = "read the seen set from FILE"},
    {"seen", NULL, OPTION_TRUE, FIELD(only_seen), .commands = " draw ", .help = "print the seen set only"},
    {"seen-only", NULL, OPTION_TRUE, FIELD(only_seen), .commands = " export ", .help = "write the seen set only"},
    {"contract", "FILE", OPTION_TEXT, .old = "space", FIELD(space),
     .commands = " draw export verify batch check shrink cover pin audit harden import selftest compare ",
     .help = "read the contract from FILE"},
    {"no-explain", NULL, OPTION_FALSE, FIELD(explain), GIVEN(explain_given),
     .commands = " verify batch compare ",
     .help = "skip the search for the rule and the smallest failing configuration"},
    {"explain", NULL, OPTION_TRUE, FIELD(explain), GIVEN(explain_given), .commands = " verify batch compare ",
     .help = "search for both, also with --reward, -q or --effort reward"},
    {"accept", "VERDICT", OPTION_CHOICE, FIELD(accept_limited), .choices = accepted,
     .commands = " verify batch report ",
     .example = "leave it out: general alone is then accepted",
     .help = "limited: a candidate that only refuses configurations has status 0, too"},
    {"regressions", "FILE", OPTION_TEXT, .old = "regress", FIELD(regress),
     .commands = " draw export verify batch cover pin compare ",
     .help = "the file of frozen failures (default: shapes/PROBLEM.regress or PROBLEM's own folder; "
             "an installed tool uses XDG_DATA_HOME)"},
    {"comment", "TEXT", OPTION_TEXT, .old = "cause", FIELD(cause), .commands = " pin ",
     .help = "the cause of the failure, kept as a comment"},
    {"runs", "N", OPTION_COUNT, FIELD(runs), .least = 1, .most = 10000, .example = "60", .commands = " shrink ",
     .help = "run the candidate at most N times (default: 60)"},
    {"unseen", "N", OPTION_COUNT, FIELD(unseen), GIVEN(only_unseen), .most = 1000000, .example = "40",
     .commands = DRAWING, .help = "draw N unseen configurations"},
    {"small", "N", OPTION_COUNT, .old = "scouts", FIELD(scouts), .most = 100000, .example = "190",
     .commands = " draw verify batch cover ",
     .help = "draw N more small configurations, which are judged and not timed (default: 190, 750 or 1875 by "
             "the effort; none with --unseen, for tasks, and for candidates in Python)"},
    {"directed", "N", OPTION_COUNT, FIELD(directed), .most = 100000, .example = "128",
     .commands = " draw verify batch cover ",
     .help = "draw at most N more configurations for conditions in the candidate's code (default: "
             "128, 400 or 1000 by the effort, 24 for tasks and candidates in Python; none with --unseen)"},
    {"blind", NULL, OPTION_TRUE, FIELD(blind), .commands = " draw verify batch cover ",
     .help = "read no condition in the candidate's code, and draw nothing for its branches"},
    {"min-coverage", "PERCENT", OPTION_COUNT, FIELD(min_coverage), .most = 100, .example = "90",
     .commands = " verify cover ",
     .help = "status 1 where the configurations take fewer of the candidate's branches (doc/coverage.md)"},
    {"unseen-set", "FILE", OPTION_TEXT, FIELD(unseen_set), .commands = " verify batch ",
     .help = "run the configurations in FILE instead of drawing an unseen set"},
    {"effort", "LEVEL", OPTION_CHOICE, FIELD(effort), GIVEN(effort_given), .choices = training_efforts,
     .example = any_number, .commands = " draw verify batch cover ",
     .help = "quick, standard (default) or deep: about 40, 300 or 1500 configurations; reward: the setting "
             "for training, without times and rules (doc/training.md)"},
    {"effort", "LEVEL", OPTION_CHOICE, FIELD(effort), GIVEN(effort_given), .choices = efforts,
     .example = any_number, .commands = " export audit harden selftest compare ",
     .help = "quick, standard (default; of audit quick) or deep: about 40, 300 or 1500 configurations"},
    {"seed", "S", OPTION_NUMBER, FIELD(seed), GIVEN(seed_given), .most = exact_in_json, .example = "1",
     .commands = " draw export verify batch cover audit harden selftest compare ",
     .help = "draw from seed S instead of the system's entropy"},
    {"baseline", "FILE", OPTION_TEXT, FIELD(baseline), .commands = " verify batch ",
     .help = "judge and time the kernel FILE beside the candidate; own: the problem's baseline"},
    {"against", "FILE", OPTION_TEXT, FIELD(against), .commands = " compare ",
     .help = "compare with this stored result, which was made with --baseline own"},
    {"peaks", "FILE", OPTION_TEXT, FIELD(peaks), .commands = " verify batch check compare calibrate ",
     .help = "the calibration file of the hardware's ceilings (default: this machine's)"},
    {"scores", NULL, OPTION_TRUE, FIELD(scores), .commands = " verify ",
     .help = "also print the scores of published benchmarks (doc/scores.md)"},
    {"reward", "NAME", OPTION_TEXT, FIELD(reward), .commands = " verify ",
     .help = "print one line: the score NAME of the unseen set (NAME@seen: of the seen set)"},
    {"reward-table", "FILE", OPTION_TEXT, FIELD(reward_table), .commands = " verify batch ",
     .help = "the worth of each outcome, for the score `table`"},
    {"arena", "ACTION", OPTION_TEXT, FIELD(arena), .commands = " verify ",
     .help = "end standard output with AgentKernelArena's line for ACTION: validate-task, or baseline or "
             "candidate with .compile, .correctness or .performance"},
    {"db", "FILE", OPTION_TEXT, FIELD(db), .commands = " verify batch history ",
     .help = "store the result in the database FILE, which `unseen history` reads"},
    {"plot", "FILE", OPTION_TEXT, FIELD(plot), .commands = " history ",
     .help = "plot times and drops over runs as SVG into FILE; -: standard output"},
    {"import", NULL, OPTION_TRUE, FIELD(import), .commands = " history ",
     .help = "add results that --json wrote"},
    {"json", "FILE", OPTION_TEXT, FIELD(report[REPORT_JSON]),
     .commands = " check shrink history audit selftest compare ", .help = "write the whole result to FILE"},
    {"github", NULL, OPTION_TRUE, FIELD(github), .commands = " verify report ",
     .help = "print annotations for a GitHub workflow"},
    {"color", "WHEN", OPTION_CHOICE, FIELD(color), .choices = colors, .commands = " verify report ",
     .example = "leave it out for auto", .help = "auto (default: on a terminal), always or never"},
    {"after", "CONFIGURATION", OPTION_TEXT, FIELD(after), .commands = " check shrink ",
     .help = "call this configuration first, in the same process"},
    {"values", "TEXT", OPTION_TEXT, FIELD(values), .commands = " check ",
     .help = "make one call with the values of another seed, except for some elements: 'seed=7 keep=x[0,4]'"},
    {"timing", NULL, OPTION_TRUE, FIELD(timing), GIVEN(timing_given), .commands = " verify batch ",
     .help = "take times, also with --effort reward"},
    {"timing", NULL, OPTION_TRUE, FIELD(timed), .commands = " check ",
     .help = "take times, and judge the timed calls"},
    {"no-timing", NULL, OPTION_FALSE, FIELD(timing), .commands = " verify batch compare ",
     .help = "judge correctness only"},
    {"no-lock", NULL, OPTION_TRUE, .old = "no-lease", FIELD(no_lease),
     .commands = " verify batch check compare calibrate ",
     .help = "do not wait for another unseen that takes times on the same device"},
    {"fail-fast", NULL, OPTION_TRUE, FIELD(fail_fast), .commands = " verify batch ",
     .help = "stop at the first failure; the other configurations count as skipped, and nothing is timed"},
    {"tolerance", "KIND", OPTION_CHOICE, FIELD(published), .choices = tolerances,
     .commands = " verify batch check shrink ", .example = "leave it out for exact",
     .help = "exact (default: our error bound decides) or published (the published check's constants decide)"},
    {"timeout", "SECONDS", OPTION_SECONDS, FIELD(timeout), .example = "5",
     .commands = " verify batch check shrink selftest compare ",
     .help = "limit of one call of the candidate (default: 20)"},
    {"python", "PATH", OPTION_TEXT, FIELD(python), .commands = INTERPRETER,
     .help = "the interpreter of candidates and tasks in Python, with torch (default: python3 on PATH)"},
    {"entry", "NAME", OPTION_TEXT, FIELD(entry), .commands = " verify batch check shrink compare ",
     .help = "the class or function of a candidate in Python; of a folder FILE:NAME (default: the one there is)"},
    {"compile-timeout", "SECONDS", OPTION_SECONDS, FIELD(compile_timeout), .example = "120", .commands = COMPILING,
     .help = "limit of compiling, of importing a task, and of loading a candidate in Python with its first call "
             "(default: 600)"},
    {"memory", "SIZE", OPTION_SIZE, FIELD(memory), .least = 16, .commands = ONE_CANDIDATE,
     .help = "main memory of the candidate and its processes, such as 8G (default: half of the machine's, "
             "shared by --jobs)"},
    {"budget", "SECONDS", OPTION_SECONDS, FIELD(budget), .example = "600",
     .commands = " verify batch compare ",
     .help = "limit of the whole run; a run that it cuts off cannot be general (default: none)"},
    {"jobs", "N", OPTION_COUNT, FIELD(jobs), .least = 1, .most = 64, .example = "2", .commands = " verify compare ",
     .help = "run N configurations at the same time (default: 1)"},
    {"jobs", "N", OPTION_COUNT, FIELD(jobs), GIVEN(jobs_given), .least = 1, .most = 64, .example = "4",
     .commands = " batch ",
     .help = "give N verdicts at the same time (default: from the cores, on a GPU at most 4)"},
    {"list", "FILE", OPTION_TEXT, FIELD(list), .commands = " batch ",
     .help = "read candidates from FILE, a JSON object a line: problem, file, id, options"},
    {"resume", NULL, OPTION_TRUE, FIELD(resume), .commands = " batch ",
     .help = "go on with the lines of --out, and run again what has no verdict"},
    {"results", "DIR", OPTION_TEXT, FIELD(results), .commands = " batch ",
     .help = "keep the whole result of each candidate in the folder DIR"},
    {"form", "FORM", OPTION_TEXT, FIELD(form), .commands = " new ",
     .help = "begin with a problem of this form: contraction, rows, discrete, recurrence, elements or folds"},
    {"like", "PROBLEM", OPTION_TEXT, FIELD(like), .commands = " new ",
     .help = "begin with a copy of PROBLEM, a name or a folder"},
    {"out", "DIRECTORY", OPTION_TEXT, FIELD(out), .commands = " new import harden ",
     .help = "make the folder there (default: here); with --shapes the file (default: standard output)"},
    {"vary", "SIZE[,SIZE]", OPTION_TEXT, FIELD(vary), .commands = " import ",
     .help = "also vary these sizes, which otherwise stay as published (a window, strides, groups)"},
    {"shapes", "FILE", OPTION_TEXT, FIELD(shapes), .commands = " import ",
     .help = "write a seen set of the problem TASK, from shapes captured in a running program"},
    {"op", "NAME", OPTION_TEXT, FIELD(op), .commands = " import ",
     .help = "take only the shapes of this operation, kernel or module (with --shapes)"},
    {"as", "FORM", OPTION_TEXT, FIELD(as), .commands = " import ",
     .help = "read TASK as one of this form: kernelbench, atrex, gpu-mode or another one of doc/tasks.md"},
    {"out", "FILE", OPTION_TEXT, FIELD(out), .commands = " export ", .help = "write there (default: standard output); of arena the new folder"},
    {"out", "FILE", OPTION_TEXT, FIELD(out), .commands = " batch ",
     .help = "write a JSON line for each candidate to FILE (default: standard output)"},
    {"format", "FORMAT", OPTION_TEXT, FIELD(format), .commands = " export ",
     .help = "json, csv, python, flashinfer, gpumode or arena (a folder)"},
    {"inputs", "DIR", OPTION_TEXT, FIELD(inputs), .commands = " export ",
     .help = "also write the inputs of every configuration, as files in the new folder DIR"},
    {"inputs-as", "FORMAT", OPTION_TEXT, FIELD(inputs_as), .commands = " export ",
     .help = "npy (default: one NumPy file a tensor) or safetensors (one file a configuration)"},
    {"size", "SIZE", OPTION_SIZE, FIELD(size), .least = 1, .commands = " export ",
     .help = "limit of these files together, such as 8G (default: 1G)"},
    {"include-dir", "DIR", OPTION_LIST, .old = "sources", FIELD(sources),
     .commands = " verify batch check shrink cover audit import harden selftest compare ",
     .help = "add DIR to the include path of compiling the candidate (repeatable)"},
    {"no-cache", NULL, OPTION_TRUE, FIELD(no_cache), .commands = ONE_CANDIDATE,
     .help = "compile and import also what is kept from an earlier run, and keep nothing"},
    {"require-sandbox", NULL, OPTION_TRUE, FIELD(require_sandbox), .commands = COMPILING,
     .help = "end with status 3 where there is no sandbox, before the candidate is compiled or run"},
    {"forbid", "LIST", OPTION_LIST, FIELD(forbid), .commands = " verify batch ",
     .help = "libraries that the candidate may not use: cublas,cutlass,lib:gmp (repeatable)"},
    {"disable-defence", "DEFENCE[,DEFENCE]", OPTION_LIST, .old = "without", FIELD(without),
     .commands = " verify batch ",
     .help = "for measurements: disable these defences of doc/threat-model.md; the status is then 1"},
    {"header", NULL, OPTION_TRUE, FIELD(header), .commands = " describe ",
     .help = "print the C header that a candidate may include"},
    {"verbose", NULL, OPTION_TRUE, FIELD(verbose), CLEARS(quiet), .letter = 'v',
     .commands = " verify check shrink cover selftest report compare ",
     .help = "more: the whole report, one line per configuration and the time of each phase (verify, report); "
             "the candidate's output (check); every step (shrink)"},
    {"quiet", NULL, OPTION_TRUE, FIELD(quiet), CLEARS(verbose), .letter = 'q',
     .commands = " verify check shrink cover audit harden selftest compare ",
     .help = "the verdict only; of shrink the configuration only"},
};
/* clang-format on */
enum { ROWS = sizeof rows / sizeof *rows };
_Static_assert(ROWS + REPORT_COUNT <= OPTION_ROWS_MOST, "raise OPTION_ROWS_MOST");

/* Each report format is an option: its row comes from the table of reports. */
static const struct option_row *report_row(int kind)
{
    static struct option_row made[REPORT_COUNT];
    struct option_row *const row = &made[kind];
    if (!row->name)
        *row = (struct option_row){report_option(kind),
                                   "FILE",
                                   OPTION_TEXT,
                                   .field = offsetof(struct options, report) + (size_t)kind * sizeof(char *),
                                   .size = sizeof(char *),
                                   .commands = report_commands(kind),
                                   .help = report_help(kind)};
    return row;
}

const struct option_row *option_row(int i)
{
    return i < ROWS ? &rows[i] : i < ROWS + REPORT_COUNT ? report_row(i - ROWS) : NULL;
}

bool option_applies(const struct option_row *row, const struct command *command)
{
    char name[64];
    snprintf(name, sizeof name, " %.60s ", command->name);
    return strstr(row->commands, name) != NULL;
}
