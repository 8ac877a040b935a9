/* unseen verify: the main command */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/github.h"
#include "reports/record/published.h"
#include "reports/terminal/terminal.h"
#include "verify/compare/compare_baseline.h"
#include "verify/sandbox/forbid.h"
#include "verify/worker/child.h"
#include "verify/sandbox/child_table.h"
#include "verify/util/activity.h"
#include "verify/util/clock.h"
#include "verify/diagnose/diagnose.h"
#include "accept.h"
#include "arena.h"
#include "begin_result.h"
#include "branch_report.h"
#include "prepare.h"
#include "closing.h"
#include "history_row.h"
#include "precision.h"
#include "outputs.h"
#include "reward.h"
#include "console.h"
#include "verify/session/run.h"
#include "verify/util/interrupt.h"
#include "verify/score/score.h"
#include "show.h"

/* State of the progress callback and the report. */
struct showing {
    const struct options *options;
    struct task *task;
    struct result *result;
    struct outputs *outputs;
    struct history_row *keeping;
    const struct reward *reward;
    double start;
    struct console screen;
    bool progress; /* a progress line, rewritten in place */
    int failures, timed;
};

/* Shows the timing phase, during which the number of finished configurations does not change. */
static void show_timing(struct showing *show, const struct result *result)
{
    int passing = 0;
    for (int i = 0; i < result->result_count; i++)
        passing += result->results[i].outcome == OUTCOME_PASS && !result->results[i].scout &&
                   !result->results[i].directed;
    char text[64];
    snprintf(text, sizeof text, "timing: %d of %d that pass", ++show->timed, passing);
    terminal_status(show->screen.out, text);
}

static void show_progress(void *data, const struct result *result, const struct config_result *latest,
                          int ready)
{
    struct showing *show = data;
    const double elapsed = clock_seconds() - show->start;
    show->failures += latest && config_fails(latest, show->options->published);
    if (latest && show->options->verbose) {
        if (show->progress)
            terminal_progress_clear(show->screen.out);
        terminal_config(show->screen.out, latest, show->screen.colour);
        fflush(show->screen.out);
    }
    activity_stands("%d/%d configurations", result->result_count, result->planned);
    if (show->progress && latest)
        terminal_progress(show->screen.out, result->result_count, result->planned, show->failures,
                          result->result_count > 5
                              ? elapsed / result->result_count * (result->planned - result->result_count)
                              : -1);
    else if (show->progress)
        show_timing(show, result);
    outputs_write_partial(show->outputs, result, ready, show->start);
}

static void prepare_signals(void)
{
    catch_signals(child_stop_all);
    signal(SIGXFSZ, SIG_IGN); /* writing beyond a file size limit becomes an error with a message */
    signal(SIGPIPE, SIG_IGN);
}

/* Spends more runs on failures, to find the simplest configuration and the condition. The files have the
 * finished results meanwhile. */
static void explain_failures(struct showing *show, enum run_status status)
{
    const struct options *o = show->options;
    const struct run_options run = {.timeout = o->timeout, .memory = o->memory, .published = o->published};
    const struct diagnose_limits limits = diagnose_limits(o->effort);
    if (!o->explain || o->fail_fast || status != RUN_DONE || is_interrupted())
        return;
    if (show->progress)
        terminal_status(show->screen.out, "searching for the rule and the smallest failure");
    const double start = clock_seconds();
    diagnose(show->task, &run, &limits, show->result);
    show->result->phase.explain += clock_seconds() - start;
}

static void print_quietly(FILE *out, const struct result *result)
{
    fprintf(out, "%s", verdict_name(result_verdict(result)));
    if (result->no_sandbox[0] != '\0')
        fprintf(out, " without a sandbox (%s)", result->no_sandbox);
    if (result->without[0] != '\0')
        fprintf(out, " without: %s", result->without);
    fprintf(out, "\n");
}

static void write_outputs(const struct showing *show)
{
    const struct result *const result = show->result;
    outputs_write(show->outputs, &result, 1);
    history_row_finish(show->keeping, result);
}

static void conclude(struct showing *show, enum run_status status)
{
    struct result *result = show->result;
    result->partial = status != RUN_DONE;
    if (status == RUN_INTERRUPTED)
        snprintf(result->partial_reason, sizeof result->partial_reason, "interrupted");
    closing_note_left(result);
    closing_find_excess(result);
    closing_find_forbidden(result);
    show_company(result);
    show_derived(result);
    closing_note_baseline(show->options->baseline, result);
    explain_failures(show, status);
    score_set(result);
    result->verdict = verdict_decide(result);
    result->published_verdict = verdict_decide_published(result);
    result->published_judged = show->options->published || result->own_tolerance.present;
    scores_fill(result, reward_table_of(show->reward));
    closing_seconds(result, clock_seconds() - show->start);
    write_outputs(show);
    if (show->progress)
        terminal_progress_clear(show->screen.out);
    if (show->reward->name != SCORE_NAMES)
        reward_print(show->screen.out, show->reward, result);
    else if (show->options->quiet)
        print_quietly(show->screen.out, result);
    else
        terminal_report(show->screen.out, result, show->screen.colour, show->options->verbose);
    if (show->options->scores && !show->options->quiet)
        terminal_scores(show->screen.out, result);
    console_close(&show->screen);
    if (show->options->github)
        github_print(show->screen.out, result);
}

/* Ends without a result. If the machine is the cause there is no verdict; if the candidate cannot be loaded,
 * it is at fault. The files say so. */
static int give_up(struct showing *show, enum run_status status, const char *error)
{
    struct result *result = show->result;
    const enum owner owner = run_status_owner(status);
    result->partial = true;
    result->unloadable = owner == OWNER_CANDIDATE;
    snprintf(result->partial_reason, sizeof result->partial_reason, "%.*s", (int)strcspn(error, "\n"), error);
    score_set(result);
    result->verdict = result->published_verdict = verdict_decide_given_up(result);
    scores_fill(result, reward_table_of(show->reward));
    closing_seconds(result, clock_seconds() - show->start);
    write_outputs(show);
    if (result->unloadable && show->options->report[REPORT_TRACE])
        closing_trace_unusable(show->task, show->options, result);
    if (show->progress)
        terminal_progress_clear(show->screen.out);
    if (show->reward->name != SCORE_NAMES)
        reward_print_given_up(show->screen.out, show->reward, result, owner);
    console_close(&show->screen);
    options_error("%s", error);
    return owner == OWNER_MACHINE ? EXIT_ENVIRONMENT : EXIT_USAGE;
}

static int exit_status(const struct showing *show, enum run_status status)
{
    if (show->outputs->error[0])
        options_error("%s", show->outputs->error);
    if (show->keeping->error[0])
        options_error("--db %s", show->keeping->error);
    if (status == RUN_INTERRUPTED)
        return EXIT_INTERRUPTED;
    if (show->outputs->error[0] || show->keeping->error[0])
        return EXIT_ENVIRONMENT;
    const bool whole = show->result->without[0] == '\0';
    return whole && accepts(show->options, result_verdict(show->result)) &&
                   branch_report_suffices(show->options, show->result)
               ? EXIT_GENERAL
               : EXIT_OTHER;
}

/* Waits for the lease after the checks, which do not need it. The run reports an interrupt. */
static void look_at_ceilings(void *data)
{
    struct showing *const show = data;
    const double start = clock_seconds();
    (void)task_calibrate(show->task, show->options->peaks);
    show->result->phase.calibrate += clock_seconds() - start;
    const char *const lines = show->task->ceilings.note;
    const size_t length = strlen(lines);
    if (length > 0)
        result_detail(show->result, "%.*s", (int)(length - (lines[length - 1] == '\n')), lines);
    begin_peaks(show->task, &show->result->peaks);
}

static int run_begun(struct showing *show)
{
    const struct options *const o = show->options;
    char error[1024];
    const struct run_options run = {.timeout = o->timeout,
                                    .memory = o->memory,
                                    .jobs = o->jobs,
                                    .timing = o->timing,
                                    .published = o->published,
                                    .fail_fast = o->fail_fast,
                                    .time_budget = precision_seconds(o, &show->task->device),
                                    .processes = precision_processes(o),
                                    .progress = show_progress,
                                    .progress_data = show,
                                    .before_timing = look_at_ceilings};
    console_open(&show->screen, o);
    show->progress = show->screen.progress && !o->quiet;
    if (!o->quiet) {
        terminal_header(show->screen.out, show->result, show->screen.colour, o->verbose);
        fflush(show->screen.out);
    }
    if (show->progress)
        console_watch_on(&show->screen);
    enum run_status status = run_task(show->task, &run, show->result, error, sizeof error);
    console_unwatch();
    const double checked = clock_seconds();
    if (status == RUN_DONE && o->timing && show->task->baseline_path[0])
        status =
            compare_against_baseline(show->task, &run, run.time_budget, show->result, error, sizeof error);
    show->result->phase.baseline += clock_seconds() - checked;
    if (status != RUN_DONE && status != RUN_INTERRUPTED)
        return give_up(show, status, error);
    conclude(show, status);
    return exit_status(show, status);
}

static int run_verify(struct task *task, const struct options *options, struct outputs *outputs,
                      const struct reward *reward, const struct branch_coverage *branches, double start)
{
    struct result result;
    char error[1024];
    struct show_words words;
    struct history_row keeping;
    struct showing show = {.options = options,
                           .task = task,
                           .result = &result,
                           .outputs = outputs,
                           .keeping = &keeping,
                           .reward = reward,
                           .start = start};
    if (forbid_object(task->build.object, error, sizeof error) != 0) {
        options_error("%s", error);
        return EXIT_ENVIRONMENT;
    }
    begin_result(task, options, &result);
    branch_report_fill(&result, branches, options);
    show_check_words(&words, options, task);
    result.check_options = words.word;
    int exit_code = history_row_begin(&keeping, options->db, &result);
    if (exit_code == 0)
        exit_code = run_begun(&show);
    exit_code = arena_finish(options, task, &result, exit_code);
    free(result.results);
    free(result.finding);
    return exit_code;
}

static int refuse_both(const struct options *options)
{
    const bool unseen = options->unseen >= 0;
    if (!options->unseen_set || (!unseen && options->scouts <= 0))
        return 0;
    options_error("found --%s %d beside --unseen-set; expected one of them\n"
                  "---> a set that is given is run as it is: leave out --%s",
                  unseen ? "unseen" : "small", unseen ? options->unseen : options->scouts,
                  unseen ? "unseen" : "small");
    return EXIT_USAGE;
}

/* Is it an already built shared object? */
static bool is_object(const char *path)
{
    return strlen(path) > 3 && strcmp(path + strlen(path) - 3, ".so") == 0;
}

/* The trace of a candidate that does not compile. */
static void trace_uncompiled(const struct task *task, const struct options *options)
{
    struct result result;
    begin_result(task, options, &result);
    snprintf(result.partial_reason, sizeof result.partial_reason, "it does not compile");
    if (outputs_check(options) == 0)
        closing_trace_unusable(task, options, &result);
}

/* Builds the candidate and draws the sets even for a candidate that does not compile, if a trace or a reward
 * is requested: whether a reward is available must depend on the settings only, not on the candidate. */
static int prepare(struct task *task, const struct options *options, const struct reward *reward)
{
    const enum task_status built = task_build(task);
    int status = prepare_step(task, built);
    const bool rewards = reward->name != SCORE_NAMES, traces = options->report[REPORT_TRACE];
    if (built == TASK_ENVIRONMENT && rewards)
        reward_print_broken(stdout, reward, task->error);
    if (status != 0 && !(task->uncompiled && (rewards || traces)))
        return status;
    prepare_spare(task, options);
    const int drawn = prepare_step(task, task_draw(task));
    const int refused = drawn == 0 && rewards ? reward_check_sets(reward, task) : drawn;
    if (refused == 0 && status != 0 && traces)
        trace_uncompiled(task, options);
    if (refused == 0 && status != 0 && rewards)
        reward_print_unusable(stdout, reward, is_object(options->argument[1]));
    return refused != 0 ? refused : status;
}

int command_verify(const struct options *options)
{
    struct task task;
    struct outputs outputs;
    struct reward reward;
    struct branch_coverage branches = {.present = false};
    const double start = clock_seconds();
    prepare_signals();
    int status = refuse_both(options);
    if (status == 0)
        status = arena_check(options);
    if (status == 0)
        status = reward_open(&reward, options);
    if (status == 0)
        status = prepare_task(&task, options);
    if (status != 0)
        return arena_finish(options, NULL, NULL, status);
    task.open_seconds = clock_seconds() - start;
    run_prepare(&task, &(struct run_options){.memory = options->memory, .jobs = options->jobs});
    status = prepare(&task, options, &reward);
    if (status == 0)
        status = branch_report_open(&branches, &task, options);
    if (status == 0 && arena_runs(options))
        status = outputs_open(&outputs, options);
    if (status != 0 || !arena_runs(options)) {
        status = arena_finish(options, &task, NULL, status);
    } else {
        status = run_verify(&task, options, &outputs, &reward, &branches, start);
        outputs_close(&outputs);
    }
    branch_coverage_close(&branches);
    return prepare_end(&task, status);
}
