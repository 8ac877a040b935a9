/* unseen verify: the main job */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../reference/error.h"
#include "../reports/csv.h"
#include "../reports/json.h"
#include "../reports/published.h"
#include "../reports/terminal.h"
#include "child.h"
#include "clock.h"
#include "run.h"
#include "score.h"

static const char *const effort_name[] = {"quick", "standard", "deep"};

/* What the progress callback needs. */
struct showing {
    const struct options *options;
    struct result *result;
    double start, written;
    bool progress; /* a line that rewrites itself */
    bool colour;
    int failures, timed;
    char write_error[512]; /* the first failure to write a file */
};

static bool is_failure(const struct config_result *c)
{
    return c->outcome != OUTCOME_PASS && c->outcome != OUTCOME_SKIPPED;
}

/* The result so far, readable by whoever finds it after a crash of the machine. */
static void write_files(struct showing *show)
{
    char error[512];
    const struct options *o = show->options;
    if (o->json && json_write(o->json, show->result, error, sizeof error) != 0 &&
        !show->write_error[0])
        snprintf(show->write_error, sizeof show->write_error, "%s", error);
    if (o->csv && csv_write(o->csv, show->result, error, sizeof error) != 0 && !show->write_error[0])
        snprintf(show->write_error, sizeof show->write_error, "%s", error);
}

static bool is_plain_file(const char *path)
{
    return path && strncmp(path, "/dev/", 5) != 0;
}

/* Results lie in drawing order with gaps while workers are busy; only a run of finished ones is written. */
static void write_partial(struct showing *show)
{
    struct result partial = *show->result;
    struct showing copy = *show;
    const double now = clock_seconds();
    if (now - show->written < 2 || (!is_plain_file(show->options->json) &&
                                    !is_plain_file(show->options->csv)))
        return;
    partial.result_count = 0;
    while (partial.result_count < show->result->planned &&
           show->result->results[partial.result_count].config[0] &&
           (show->result->results[partial.result_count].judged ||
            show->result->results[partial.result_count].outcome != OUTCOME_PASS))
        partial.result_count++;
    partial.partial = true;
    snprintf(partial.partial_reason, sizeof partial.partial_reason, "the run is not finished");
    partial.seconds = now - show->start;
    score_set(&partial);
    partial.verdict = VERDICT_INCONCLUSIVE;
    copy.result = &partial;
    write_files(&copy);
    memcpy(show->write_error, copy.write_error, sizeof show->write_error);
    show->written = clock_seconds();
}

static void show_progress(void *data, const struct result *result,
                          const struct config_result *latest)
{
    struct showing *show = data;
    const double elapsed = clock_seconds() - show->start;
    if (latest && is_failure(latest))
        show->failures++;
    if (latest && show->options->verbose) {
        if (show->progress)
            terminal_progress_clear(stdout);
        terminal_config(stdout, latest, show->colour);
    }
    if (!latest)
        show->timed++;
    if (show->progress)
        terminal_progress(stdout, result->result_count, result->planned, show->failures,
                          latest && result->result_count > 5
                              ? elapsed / result->result_count *
                                    (result->planned - result->result_count)
                              : -1);
    write_partial(show);
}

static void on_signal(int number)
{
    (void)number;
    run_interrupt();
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a write error, with a message */
    signal(SIGPIPE, SIG_IGN);
}

static void start_result(const struct task *task, const struct options *options,
                         struct result *result)
{
    struct ladder ladder;
    error_ladder(task->problem, task->device.capability, &ladder);
    *result = (struct result){.version = UNSEEN_VERSION,
                              .git = UNSEEN_GIT,
                              .problem = task->problem->name,
                              .memory_bound = task->problem->memory_bound,
                              .language = task->build.language,
                              .build_seconds = task->build.seconds,
                              .seed = task->seed,
                              .effort = options->unseen >= 0 ? "custom" : effort_name[options->effort],
                              .admitted = ladder.rung[ladder.admitted].name,
                              .published_tolerance = options->published,
                              .planned = task->seen_set.count + task->unseen_set.count,
                              .planned_seen = task->seen_set.count};
    snprintf(result->candidate_path, sizeof result->candidate_path, "%s", options->argument[1]);
    memcpy(result->candidate_sha256, task->build.sha256, sizeof result->candidate_sha256);
    memcpy(result->device, task->device.name, sizeof result->device);
    memcpy(result->driver, task->device.driver, sizeof result->driver);
    memcpy(result->commitment, task->commitment, sizeof result->commitment);
    snprintf(result->notes, sizeof result->notes, "%.1000s", task->notes.text);
    snprintf(result->sandbox, sizeof result->sandbox, "%s", child_sandbox());
    result->peaks = (struct peaks){
        .bandwidth_gbps = device_gbps(&task->device),
        .measured_gbps = task->device.measured.gbps,
        .tflops = device_tflops(&task->device, task->problem->compute),
        .source = task->device.vendor.gbps > 0 ? "vendor" : "measured",
        .launch_ms = task->device.launch_ms};
    result->phase.build = task->build.seconds;
    result->phase.draw = task->draw_seconds;
}

/* A time below what the hardware permits is reported, never celebrated: the ceiling is the vendor's, so
 * a clear excess means a wrong clock or work that was not done. Small tensors may stay in the L2 while
 * they are written, hence the margin. */
static void find_excess(struct result *result)
{
    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *c = &result->results[i];
        if (!c->timing.present || c->timing.fraction <= 1.5 || !strcmp(c->timing.bound, "launch") ||
            strcmp(result->peaks.source, "vendor") != 0)
            continue;
        struct finding *grown = realloc(result->finding,
                                        (size_t)(result->finding_count + 1) * sizeof *grown);
        if (!grown)
            return;
        result->finding = grown;
        snprintf(grown[result->finding_count].kind, sizeof grown->kind, "above the ceiling");
        snprintf(grown[result->finding_count++].evidence, sizeof grown->evidence,
                 "%.200s: %.4g ms, but the hardware needs %.4g ms", c->config, c->timing.median_ms,
                 c->timing.attainable_ms);
        return;
    }
}

static void conclude(struct showing *show, enum run_status status)
{
    struct result *result = show->result;
    result->partial = status != RUN_DONE;
    if (status == RUN_INTERRUPTED)
        snprintf(result->partial_reason, sizeof result->partial_reason, "interrupted");
    find_excess(result);
    score_set(result);
    result->verdict = verdict_decide(result);
    result->published_verdict = verdict_decide_published(result);
    result->published_judged = show->options->published;
    result->seconds = clock_seconds() - show->start;
    write_files(show);
    if (show->progress)
        terminal_progress_clear(stdout);
    if (show->options->quiet)
        printf("%s\n", verdict_name(result_verdict(result)));
    else
        terminal_report(stdout, result, show->colour, show->options->verbose,
                        result->peaks.source && strcmp(result->language, "cuda") == 0 ? NULL
                                                                                      : "--device host");
}

static int exit_status(const struct showing *show, enum run_status status)
{
    if (show->write_error[0]) {
        options_error("%s", show->write_error);
        return EXIT_ENVIRONMENT;
    }
    if (status == RUN_INTERRUPTED)
        return EXIT_INTERRUPTED;
    return result_verdict(show->result) == VERDICT_GENERAL ? EXIT_GENERAL : EXIT_OTHER;
}

static int run_verify(struct task *task, const struct options *options, double start)
{
    struct result result;
    char error[1024];
    struct showing show = {.options = options, .result = &result, .start = start, .written = start,
                           .colour = isatty(STDOUT_FILENO),
                           .progress = isatty(STDOUT_FILENO) && !options->quiet};
    const struct run_options run = {.timeout = options->timeout, .jobs = options->jobs,
                                    .timing = options->timing, .published = options->published,
                                    .time_budget = options->effort == EFFORT_QUICK ? 0.05 : 0.04,
                                    .progress = show_progress, .progress_data = &show};
    start_result(task, options, &result);
    if (!options->quiet) {
        terminal_header(stdout, &result, show.colour);
        fflush(stdout);
    }
    const enum run_status status = run_task(task, &run, &result, error, sizeof error);
    int exit_code;
    if (status == RUN_BAD || status == RUN_BROKEN) {
        if (show.progress)
            terminal_progress_clear(stdout);
        options_error("%s", error);
        exit_code = status == RUN_BAD ? EXIT_USAGE : EXIT_ENVIRONMENT;
    } else {
        conclude(&show, status);
        exit_code = exit_status(&show, status);
    }
    free(result.results);
    free(result.finding);
    return exit_code;
}

/* Whether the files can be written is found out before minutes are spent. */
static int try_outputs(const struct options *options)
{
    const struct result empty = {.verdict = VERDICT_INCONCLUSIVE, .partial = true,
                                 .partial_reason = "not started"};
    char error[512];
    if ((options->json && json_write(options->json, &empty, error, sizeof error) != 0) ||
        (options->csv && csv_write(options->csv, &empty, error, sizeof error) != 0)) {
        options_error("%s", error);
        return EXIT_ENVIRONMENT;
    }
    return 0;
}

int command_verify(const struct options *options)
{
    struct task task;
    const double start = clock_seconds();
    catch_signals();
    int status = task_open(&task, options);
    if (status != 0)
        return status;
    status = task_contract(&task, options);
    if (status == 0)
        status = task_build(&task, options->argument[1]);
    if (status == 0)
        status = task_draw(&task, options);
    if (status == 0)
        status = try_outputs(options);
    if (status == 0 && run_interrupted())
        status = EXIT_INTERRUPTED;
    if (status == 0)
        status = run_verify(&task, options, start);
    task_clear(&task);
    return status;
}
