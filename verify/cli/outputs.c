#include "outputs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/record/atomic.h"
#include "verify/score/score.h"
#include "verify/util/clock.h"

enum { SECONDS_BETWEEN = 2 };

static bool same_file(const char *a, const char *b)
{
    struct stat one, other;
    if (!a || !b)
        return false;
    if (stat(a, &one) != 0 || stat(b, &other) != 0)
        return strcmp(a, b) == 0;
    return S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* Detects `verify ... > result.json` with `--json result.json`, where the printed report would be lost. */
static bool is_redirected_to(const char *path)
{
    struct stat one, other;
    return !atomic_is_standard(path) && stat(path, &one) == 0 && fstat(STDOUT_FILENO, &other) == 0 &&
           S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* The kind of the run's input file that `path` would overwrite, if any. */
static const char *overwrites(const char *path, const struct options *options)
{
    for (int i = 0; options->arguments_are_results && i < options->arguments; i++)
        if (same_file(path, options->argument[i]))
            return "result";
    if (options->arguments_are_results)
        return is_redirected_to(path) ? "standard output" : NULL;
    return same_file(path, options->argument[1])    ? "candidate"
           : same_file(path, options->baseline)     ? "baseline"
           : same_file(path, options->reward_table) ? "table of rewards"
           : same_file(path, options->seen)         ? "seen set"
           : same_file(path, options->unseen_set)   ? "unseen set"
           : same_file(path, options->space)        ? "contract"
           : same_file(path, options->regress)      ? "file of frozen failures"
           : is_redirected_to(path)                 ? "standard output"
                                                    : NULL;
}

static int refuse(enum report_kind kind, const char *path, const char *what)
{
    options_error("--%s %s is the %s of this run; expected a file of its own\n"
                  "---> give another path",
                  report_option(kind), path, what);
    return EXIT_USAGE;
}

bool outputs_on_standard(const struct options *options)
{
    for (int i = 0; i < REPORT_COUNT; i++)
        if (options->report[i] && atomic_is_standard(options->report[i]))
            return true;
    return false;
}

int outputs_check(const struct options *options)
{
    for (int i = 0; i < REPORT_COUNT; i++) {
        const char *const path = options->report[i];
        const char *const what = path ? overwrites(path, options) : NULL;
        if (what)
            return refuse(i, path, what);
        for (int k = 0; k < i && path; k++) {
            const char *const other = options->report[k];
            if (same_file(path, other) || (other && atomic_is_standard(path) && atomic_is_standard(other)))
                return refuse(i, path, report_words(k));
        }
        if (same_file(path, options->db))
            return refuse(i, path, "database");
    }
    return 0;
}

static void keep_error(struct outputs *outputs, const char *error)
{
    if (!outputs->error[0])
        snprintf(outputs->error, sizeof outputs->error, "%s", error);
}

static void write_one(struct outputs *outputs, enum report_kind kind, const struct result *const *results,
                      int count)
{
    char error[sizeof outputs->error];
    if (outputs->path[kind] &&
        report_write(kind, outputs->path[kind], results, count, error, sizeof error) != 0)
        keep_error(outputs, error);
}

int outputs_open(struct outputs *outputs, const struct options *options)
{
    const struct result empty = {
        .verdict = VERDICT_INCONCLUSIVE, .partial = true, .partial_reason = "not started"};
    const struct result *const first = &empty;
    const int status = outputs_check(options);
    *outputs = (struct outputs){.written = clock_seconds()};
    for (int i = 0; i < REPORT_COUNT; i++)
        outputs->held[i] = -1;
    for (int i = 0; i < REPORT_COUNT && status == 0; i++) {
        char error[sizeof outputs->error];
        outputs->path[i] = options->report[i];
        if (outputs->path[i] && !atomic_is_stream(outputs->path[i]))
            write_one(outputs, i, &first, 1);
        else if (outputs->path[i] &&
                 (outputs->held[i] = atomic_hold(outputs->path[i], error, sizeof error)) < 0)
            keep_error(outputs, error);
    }
    if (status != 0 || !outputs->error[0])
        return status;
    options_error("%s", outputs->error);
    outputs_close(outputs);
    return EXIT_ENVIRONMENT;
}

void outputs_write(struct outputs *outputs, const struct result *const *results, int count)
{
    for (int i = 0; i < REPORT_COUNT; i++)
        write_one(outputs, i, results, count);
    outputs->written = clock_seconds();
}

void outputs_write_partial(struct outputs *outputs, const struct result *result, int ready, double start)
{
    static const enum report_kind kinds[] = {REPORT_JSON, REPORT_CSV};
    struct result partial = *result;
    const struct result *const first = &partial;
    const double now = clock_seconds();
    if (now - outputs->written < SECONDS_BETWEEN)
        return;
    partial.result_count = ready;
    partial.partial = true;
    snprintf(partial.partial_reason, sizeof partial.partial_reason, "the run is not finished");
    partial.seconds = now - start;
    score_set(&partial);
    partial.verdict = partial.published_verdict = VERDICT_INCONCLUSIVE;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (outputs->held[kinds[i]] < 0)
            write_one(outputs, kinds[i], &first, 1);
    outputs->written = clock_seconds();
}

void outputs_close(struct outputs *outputs)
{
    for (int i = 0; i < REPORT_COUNT; i++) {
        if (outputs->held[i] >= 0)
            close(outputs->held[i]);
        outputs->held[i] = -1;
    }
}
