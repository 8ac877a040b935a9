#include "outputs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "reports/csv.h"
#include "reports/json.h"
#include "verify/system/clock.h"
#include "verify/measure/score.h"

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

/* Which of the run's own files would `path` overwrite? */
static const char *overwrites(const char *path, const struct options *options)
{
    return same_file(path, options->argument[1])    ? "candidate"
           : same_file(path, options->baseline)     ? "baseline"
           : same_file(path, options->reward_table) ? "table of rewards"
           : same_file(path, options->seen)         ? "seen set"
           : same_file(path, options->space)        ? "contract"
           : same_file(path, options->regress)      ? "file of frozen failures"
                                                    : NULL;
}

static int refuse(const char *option, const char *path, const char *what)
{
    options_error("--%s %s is the %s of this run; expected a file of its own\n"
                  "---> give another path",
                  option, path, what);
    return EXIT_USAGE;
}

int outputs_check(const struct options *options)
{
    const char *what;
    if ((what = overwrites(options->json, options)) != NULL)
        return refuse("json", options->json, what);
    if ((what = overwrites(options->csv, options)) != NULL)
        return refuse("csv", options->csv, what);
    if ((what = overwrites(options->db, options)) != NULL)
        return refuse("db", options->db, what);
    if (same_file(options->db, options->json) || same_file(options->db, options->csv))
        return refuse("db", options->db,
                      same_file(options->db, options->json) ? "JSON result" : "CSV result");
    if (same_file(options->json, options->csv))
        return refuse("csv", options->csv, "JSON result");
    return 0;
}

int outputs_open(struct outputs *outputs, const struct options *options)
{
    const struct result empty = {
        .verdict = VERDICT_INCONCLUSIVE, .partial = true, .partial_reason = "not started"};
    const int status = outputs_check(options);
    *outputs = (struct outputs){
        .json = options->json, .csv = options->csv, .db = options->db, .written = clock_seconds()};
    if (status != 0)
        return status;
    outputs_write(outputs, &empty);
    if (!outputs->error[0])
        return 0;
    options_error("%s", outputs->error);
    return EXIT_ENVIRONMENT;
}

void outputs_write(struct outputs *outputs, const struct result *result)
{
    char error[sizeof outputs->error];
    if (outputs->json && json_write(outputs->json, result, error, sizeof error) != 0 && !outputs->error[0])
        memcpy(outputs->error, error, sizeof error);
    if (outputs->csv && csv_write(outputs->csv, result, error, sizeof error) != 0 && !outputs->error[0])
        memcpy(outputs->error, error, sizeof error);
    outputs->written = clock_seconds();
}

int outputs_begin(struct outputs *outputs, const struct result *result)
{
    const struct history history = {.path = outputs->db};
    char error[1024];
    if (!outputs->db)
        return 0;
    const enum history_status status =
        history_begin(&history, result, (int64_t)time(NULL), outputs->token, error, sizeof error);
    if (status == HISTORY_OK)
        return 0;
    options_error("--db %s", error);
    return status == HISTORY_INPUT ? EXIT_USAGE : EXIT_ENVIRONMENT;
}

void outputs_finish(struct outputs *outputs, const struct result *result)
{
    const struct history history = {.path = outputs->db};
    char error[sizeof outputs->error];
    if (outputs->db && outputs->token[0] &&
        history_finish(&history, outputs->token, result, (int64_t)time(NULL), error, sizeof error) !=
            HISTORY_OK &&
        !outputs->error[0])
        memcpy(outputs->error, error, sizeof error);
}

/* A device or a pipe gets the final result only: there, two would follow each other. */
static bool is_stream(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

void outputs_write_partial(struct outputs *outputs, const struct result *result, int ready, double start)
{
    struct outputs files = *outputs;
    struct result partial = *result;
    const double now = clock_seconds();
    if (files.json && is_stream(files.json))
        files.json = NULL;
    if (files.csv && is_stream(files.csv))
        files.csv = NULL;
    if (now - outputs->written < SECONDS_BETWEEN || (!files.json && !files.csv))
        return;
    partial.result_count = ready;
    partial.partial = true;
    snprintf(partial.partial_reason, sizeof partial.partial_reason, "the run is not finished");
    partial.seconds = now - start;
    score_set(&partial);
    partial.verdict = partial.published_verdict = VERDICT_INCONCLUSIVE;
    outputs_write(&files, &partial);
    memcpy(outputs->error, files.error, sizeof outputs->error);
    outputs->written = files.written;
}
