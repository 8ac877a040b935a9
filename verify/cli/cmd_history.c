/* unseen history: shows verdicts over time */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "options.h"
#include "reports/record/atomic.h"
#include "reports/json/json_read.h"
#include "verify/history/history.h"

static int exit_of(enum history_status status)
{
    return status == HISTORY_OK ? 0 : status == HISTORY_INPUT ? EXIT_USAGE : EXIT_ENVIRONMENT;
}

/* A stored result has no date, so its file's date is used. */
static int import_one(const struct history *history, const char *path)
{
    struct stored_result stored;
    struct stat status;
    char error[1024];
    bool known;
    const int64_t when = stat(path, &status) == 0 ? (int64_t)status.st_mtime : 0;
    const enum json_read_status read = json_read(path, &stored, error, sizeof error);
    if (read != JSON_READ_OK) {
        options_error("%s", error);
        return read == JSON_READ_INPUT ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    const enum history_status kept =
        history_import(history, &stored.result, when, &known, error, sizeof error);
    json_read_free(&stored);
    if (kept != HISTORY_OK)
        options_error("%s", error);
    else
        printf("%s %s\n", path, known ? "was there already" : "imported");
    return exit_of(kept);
}

/* Imports all results that can be imported, even if others cannot. */
static int import_all(const struct history *history, const struct options *options)
{
    int status = 0;
    if (options->arguments == 0) {
        options_error("--import and no file; expected results of `verify --json`\n"
                      "---> unseen history --db FILE --import RESULT.json...");
        return EXIT_USAGE;
    }
    for (int i = 0; i < options->arguments; i++) {
        const int one = import_one(history, options->argument[i]);
        status = one > status ? one : status;
    }
    return status;
}

static int write_text(const char *path, const char *what, char *text)
{
    char error[1024];
    if (!text) {
        options_error("cannot write the %s: out of memory\n---> close other programs", what);
        return EXIT_ENVIRONMENT;
    }
    if (strcmp(path, "-") == 0) {
        fputs(text, stdout);
        return 0;
    }
    if (atomic_write(path, text, strlen(text), error, sizeof error) == 0)
        return 0;
    options_error("%s", error);
    return EXIT_ENVIRONMENT;
}

static int show_json(const struct options *options, const struct history_runs *runs)
{
    char *text = history_json(runs);
    const size_t length = text ? strlen(text) : 0;
    char *const line = text ? realloc(text, length + 2) : NULL;
    if (line)
        memcpy(line + length, "\n", 2);
    const int status = write_text(options->report[REPORT_JSON], "runs", line);
    free(line ? line : text);
    return status;
}

static int show_plot(const struct options *options, const struct history_runs *runs)
{
    char error[512];
    char *const text = history_plot(runs, error, sizeof error);
    if (!text) {
        options_error("%s", error);
        return EXIT_USAGE;
    }
    const int status = write_text(options->plot, "drawing", text);
    free(text);
    return status;
}

static int show(const struct options *options, const struct history_runs *runs)
{
    const char *const word = options->arguments ? options->argument[0] : NULL;
    int status = 0;
    if (word && runs->count == 0) {
        options_error("no run of '%s' in %s; expected a problem, or a candidate's path or SHA-256\n"
                      "---> unseen history --db %s lists all",
                      word, options->db, options->db);
        return EXIT_USAGE;
    }
    if (options->report[REPORT_JSON])
        status = show_json(options, runs);
    if (status == 0 && options->plot)
        status = show_plot(options, runs);
    if (!options->report[REPORT_JSON] && !options->plot)
        history_print(stdout, runs);
    return status;
}

int command_history(const struct options *options)
{
    const struct history history = {.path = options->db};
    struct history_runs runs;
    char error[1024];
    if (!options->db) {
        options_error(
            "no database; expected --db FILE\n---> the one that `unseen verify --db FILE` was given");
        return EXIT_USAGE;
    }
    if (options->import)
        return import_all(&history, options);
    if (options->arguments > 1) {
        options_error("%d words; expected one problem or candidate\n---> results are taken in with --import",
                      options->arguments);
        return EXIT_USAGE;
    }
    const enum history_status status =
        history_read(&history, options->arguments ? options->argument[0] : NULL, &runs, error, sizeof error);
    if (status != HISTORY_OK) {
        options_error("%s", error);
        return exit_of(status);
    }
    const int shown = show(options, &runs);
    history_runs_clear(&runs);
    return shown;
}
