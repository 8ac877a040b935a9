/* unseen batch: the verdict of verify for many candidates */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "console.h"
#include "option_table.h"
#include "reports/terminal/terminal.h"
#include "verify/batch/lane.h"
#include "verify/batch/seed.h"
#include "verify/batch/summary.h"
#include "verify/device/processors.h"
#include "verify/problem/folder.h"
#include "verify/sandbox/child_table.h"
#include "verify/util/clock.h"
#include "verify/util/interrupt.h"

struct batch {
    struct batch_list list;
    json_t **line;
    struct batch_file file;
    struct batch_lanes lanes;
    struct console screen;
    int done, before; /* all lines; those that the file had before */
    double start;
    char error[2048];
};

/* --- the list --- */

static const struct command verify_command = {.name = "verify"}, batch_command = {.name = "batch"};

/* Options of both commands go on to verify; the others are of the batch itself. */
static bool goes_on(const struct option_row *row)
{
    return option_applies(row, &verify_command) && option_applies(row, &batch_command);
}

static bool is_row_option(const char *name, bool *takes_value)
{
    const struct option_row *row;
    for (int i = 0; (row = option_row(i)); i++)
        if (goes_on(row) && strcmp(row->name, name) == 0) {
            *takes_value = row->argument != NULL;
            return true;
        }
    return false;
}

static json_t *words_of(const struct options *options)
{
    json_t *const words = json_array();
    char name[64];
    for (int i = 0; i < options->taken_count; i++) {
        const struct option_taken *const taken = &options->taken[i];
        if (!goes_on(taken->row))
            continue;
        snprintf(name, sizeof name, "--%.60s", taken->row->name);
        json_array_append_new(words, json_string(name));
        if (taken->text)
            json_array_append_new(words, json_string(taken->text));
    }
    return words;
}

static int refuse(const char *found, const char *expected, const char *hint)
{
    options_error("found %s; expected %s\n---> %s", found, expected, hint);
    return EXIT_USAGE;
}

static int read_list(struct batch *batch, const struct options *options)
{
    const struct batch_defaults defaults = {.problem = options->arguments > 0 ? options->argument[0] : NULL,
                                            .words = words_of(options),
                                            .is_option = is_row_option};
    const struct problem *found;
    int status = 0;
    /* A name is checked at once. A path is a folder or a task, which each verdict loads. */
    if (defaults.problem && access(defaults.problem, F_OK) != 0)
        status = folder_problem(&found, defaults.problem, batch->error, sizeof batch->error) != FOLDER_OK;
    for (int i = 1; status == 0 && i < options->arguments; i++)
        status =
            batch_list_add(&batch->list, &defaults, options->argument[i], batch->error, sizeof batch->error);
    if (status == 0 && options->list)
        status = batch_list_read(&batch->list, &defaults, options->list, batch->error, sizeof batch->error);
    json_decref(defaults.words);
    if (status != 0) {
        options_error("%s", batch->error);
        return EXIT_USAGE;
    }
    return batch->list.count > 0
               ? 0
               : refuse("no candidate", "some", "unseen batch PROBLEM CANDIDATE..., or --list FILE");
}

/* --- showing --- */

static void watch(void *data, int running)
{
    struct batch *const batch = data;
    char text[200], left[60] = "";
    const int now = batch->done - batch->before;
    const double elapsed = clock_seconds() - batch->start;
    if (!batch->screen.progress)
        return;
    if (now > 0)
        snprintf(left, sizeof left, ", about %.0f s left", elapsed / now * (batch->list.count - batch->done));
    snprintf(text, sizeof text, "%d of %d candidates, %d running%s", batch->done, batch->list.count, running,
             left);
    terminal_status(batch->screen.out, text);
}

static bool take(void *data, int index, const json_t *line)
{
    struct batch *const batch = data;
    (void)index;
    if (batch_file_write(&batch->file, line, batch->error, sizeof batch->error) != 0)
        return false;
    batch->done++;
    if (batch->screen.progress) {
        terminal_progress_clear(batch->screen.out);
        batch_summary_row(batch->screen.out, line);
    }
    return true;
}

/* --- the run --- */

/* A GPU is shared in time slices, so that more than a few verdicts only wait for each other. */
static int jobs_of(const struct options *options)
{
    const bool gpu =
        options->device ? strncmp(options->device, "cuda", 4) == 0 : access("/dev/nvidiactl", F_OK) == 0;
    const int cores = processors_available(), jobs = gpu ? cores / 4 : cores / 2, most = gpu ? 4 : BATCH_JOBS;
    if (options->jobs_given)
        return options->jobs;
    return jobs < 1 ? 1 : jobs > most ? most : jobs;
}

/* A row without a verdict because of the machine runs again. */
static void forget_lost(struct batch *batch)
{
    for (int i = 0; i < batch->list.count; i++)
        if (batch->line[i] && batch_line_is_lost(batch->line[i])) {
            json_decref(batch->line[i]);
            batch->line[i] = NULL;
        } else {
            batch->before += batch->line[i] != NULL;
        }
    batch->done = batch->before;
}

static int exit_status(const struct batch *batch, enum batch_queue_end end)
{
    int status = end == BATCH_STOPPED ? EXIT_ENVIRONMENT : EXIT_GENERAL;
    for (int i = 0; i < batch->list.count; i++)
        if (!batch->line[i] || batch_line_is_lost(batch->line[i]))
            status = EXIT_ENVIRONMENT;
        else if (status == EXIT_GENERAL && json_integer_value(json_object_get(batch->line[i], "status")) != 0)
            status = EXIT_OTHER;
    if (end == BATCH_INTERRUPTED)
        options_error("interrupted, %d of %d candidates are done%s", batch->done, batch->list.count,
                      batch->file.path ? "\n---> --resume goes on with the others" : "");
    if (end == BATCH_STOPPED)
        options_error("%s", batch->error[0] ? batch->error : "out of memory");
    return end == BATCH_INTERRUPTED ? EXIT_INTERRUPTED : status;
}

static int run(struct batch *batch, const struct options *options)
{
    struct batch_queue queue = {.list = &batch->list,
                                .line = batch->line,
                                .jobs = batch->lanes.jobs,
                                .take = take,
                                .watch = watch,
                                .data = batch};
    const struct batch_judge judge = batch_lanes_judge(&batch->lanes);
    console_open_on(&batch->screen, options, options->out ? stdout : stderr);
    batch->start = clock_seconds();
    const enum batch_queue_end end = batch_queue_run(&queue, &judge);
    if (batch->screen.progress)
        terminal_progress_clear(batch->screen.out);
    batch_summary_print(batch->screen.out, &batch->list, batch->line);
    return exit_status(batch, end);
}

static int open_and_run(struct batch *batch, const struct options *options)
{
    batch->line = calloc((size_t)batch->list.count, sizeof *batch->line);
    const int opened = batch->line
                           ? batch_file_open(&batch->file, options->out, options->resume, &batch->list,
                                             batch->line, batch->error, sizeof batch->error)
                           : -2;
    if (opened == 0) {
        forget_lost(batch);
        if (batch_lanes_open(&batch->lanes, &batch->list, jobs_of(options), options->results, batch->error,
                             sizeof batch->error) == 0)
            return run(batch, options);
    }
    options_error("%s", batch->error[0] ? batch->error : "out of memory");
    return opened == -1 ? EXIT_USAGE : EXIT_ENVIRONMENT;
}

int command_batch(const struct options *options)
{
    struct batch *const batch = calloc(1, sizeof *batch);
    if (options->resume && !options->out) {
        free(batch);
        return refuse("--resume without --out", "the file to go on with", "add --out FILE");
    }
    if (!batch) {
        options_error("out of memory");
        return EXIT_ENVIRONMENT;
    }
    catch_signals(child_stop_all);
    signal(SIGXFSZ, SIG_IGN); /* writing beyond a file size limit becomes an error with a message */
    signal(SIGPIPE, SIG_IGN);
    batch->file.descriptor = -1;
    int status = read_list(batch, options);
    if (status == 0 && batch_seed_share(&batch->list, options->resume ? options->out : NULL, batch->error,
                                        sizeof batch->error) != 0) {
        options_error("%s", batch->error);
        status = EXIT_ENVIRONMENT;
    }
    if (status == 0)
        status = open_and_run(batch, options);
    batch_lanes_close(&batch->lanes);
    batch_file_close(&batch->file);
    for (int i = 0; batch->line && i < batch->list.count; i++)
        json_decref(batch->line[i]);
    free(batch->line);
    batch_list_clear(&batch->list);
    free(batch);
    return status;
}
