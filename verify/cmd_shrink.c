/* unseen shrink: the simplest configuration that still fails the same way */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../gen/shrink.h"
#include "../reports/published.h"
#include "../reports/terminal.h"
#include "probe.h"
#include "show.h"

/* A failure that comes and goes is asked for so often before it counts as gone. */
enum { FLAKY_TRIES = 4, RATE_RUNS = 10 };

struct shrinking {
    const struct task *task;
    const struct options *options;
    struct probe *probe;
    struct config_result from, best; /* results of the first and of the simplest configuration */
    bool flaky;                      /* the first one does not fail the same way every time */
    int skipped;                     /* steps that this machine could not run */
    int left;                        /* runs */
    enum probe_status status;
    bool progress;
};

static enum outcome outcome_of(const struct shrinking *s, const struct config_result *result)
{
    return s->options->published ? published_outcome(result) : result->outcome;
}

static bool is_same(const struct shrinking *s, const struct config_result *result)
{
    return outcome_of(s, result) == outcome_of(s, &s->from);
}

static void show_step(const struct shrinking *s, const struct config_result *result)
{
    if (s->progress)
        terminal_progress_clear(stdout);
    if (s->options->verbose)
        printf("  %-11s%s\n", outcome_name(outcome_of(s, result)), result->config);
    if (s->progress)
        printf("\r%d runs left, now %.60s", s->left, s->best.config);
    fflush(stdout);
}

/* One run of a step; false: no more can be made. */
static bool run_step(struct shrinking *s, const struct config *config, bool again,
                     struct config_result *result)
{
    const int before = probe_runs(s->probe);
    if (s->left == 0)
        return false;
    s->status = again ? probe_again(s->probe, config, result) : probe_run(s->probe, config, result);
    s->left -= probe_runs(s->probe) - before;
    if (s->status == PROBE_OK)
        show_step(s, result);
    return s->status == PROBE_OK;
}

static int step_fails(void *data, const struct config *config)
{
    struct shrinking *s = data;
    struct config_result result;
    if (!run_step(s, config, false, &result))
        return -1;
    const bool skipped = result.outcome == OUTCOME_SKIPPED;
    s->skipped += skipped;
    for (int i = 1; i < FLAKY_TRIES && s->flaky && !skipped && !is_same(s, &result); i++)
        if (!run_step(s, config, true, &result))
            return -1;
    if (!is_same(s, &result))
        return 0;
    s->best = result;
    return 1;
}

/* --- the first configuration --- */

static int refuse(const struct shrinking *s, int runs)
{
    if (s->from.outcome == OUTCOME_SKIPPED || outcome_of(s, &s->from) == OUTCOME_SKIPPED) {
        options_error("%s: %s; a configuration that can be judged was expected\n---> try a smaller one",
                      s->from.config, s->from.detail[0] ? s->from.detail : "nothing was judged");
        return EXIT_ENVIRONMENT;
    }
    options_error("%s passes, %d times of %d; a configuration on which %s fails was expected\n"
                  "---> take one from the report of unseen verify, with its seed",
                  s->from.config, runs, runs, s->options->argument[1]);
    return EXIT_USAGE;
}

/* What passes once may fail the next time, and the other way round: both are tried again. */
static int run_first(struct shrinking *s, const struct config *config)
{
    struct config_result again;
    int runs = 0;
    do {
        s->status = probe_again(s->probe, config, &s->from);
        runs++;
    } while (s->status == PROBE_OK && outcome_of(s, &s->from) == OUTCOME_PASS && runs < FLAKY_TRIES);
    if (s->status != PROBE_OK)
        return 0;
    if (outcome_of(s, &s->from) == OUTCOME_PASS || outcome_of(s, &s->from) == OUTCOME_SKIPPED)
        return refuse(s, runs);
    s->best = s->from;
    s->flaky = runs > 1 || s->from.outcome == OUTCOME_UNSTABLE;
    if (s->flaky || s->from.outcome == OUTCOME_TIMEOUT) /* a second timeout would only cost time */
        return 0;
    s->status = probe_again(s->probe, config, &again);
    s->flaky = s->status == PROBE_OK && !is_same(s, &again);
    return 0;
}

/* --- the report --- */

static void print_rate(struct shrinking *s, const struct config *config)
{
    struct config_result result;
    char text[128];
    int same = 0, failed = 0, runs = 0;
    while (runs < RATE_RUNS && probe_again(s->probe, config, &result) == PROBE_OK) {
        same += is_same(s, &result);
        failed += outcome_of(s, &result) != OUTCOME_PASS;
        runs++;
    }
    snprintf(text, sizeof text,
             "%d of %d further runs fail, %d of them this way: a race, or memory never set", failed,
             runs, same);
    if (runs > 0)
        show_line("repeats", text);
}

static void print_search(const struct shrinking *s, const struct shrunk *shrunk, int runs)
{
    char text[RESULT_CONFIG_SIZE + 200];
    const char *const how =
        s->status == PROBE_INTERRUPTED ? "interrupted: a simpler one may still fail"
        : !shrunk->minimal             ? "the runs ended: with --runs a simpler one may be found"
        : s->skipped                   ? "locally minimal among what this machine can run"
                                       : "locally minimal: no single simpler step fails this way";
    snprintf(text, sizeof text, "%d run%s, %s", runs, runs == 1 ? "" : "s", how);
    show_line("shrunk", text);
    if (strcmp(s->from.config, s->best.config) != 0)
        show_line("from", s->from.config);
}

static void report(struct shrinking *s, const struct shrunk *shrunk, int runs)
{
    if (s->progress)
        terminal_progress_clear(stdout);
    if (s->options->quiet) {
        printf("%s\n", s->best.config);
        return;
    }
    show_result(&s->best);
    show_findings(probe_session(s->probe));
    print_search(s, shrunk, runs);
    if (s->flaky && s->status == PROBE_OK)
        print_rate(s, &shrunk->config);
    show_command(s->options, s->task, s->best.config);
}

static int search(struct shrinking *s, const struct config *config)
{
    struct shrunk shrunk = {.config = *config};
    int status = run_first(s, config);
    if (status == 0 && s->status == PROBE_OK) {
        s->left = s->options->runs;
        if (shrink(&s->task->space, config, s->left, step_fails, s, &shrunk) != 0) {
            options_error("out of memory");
            return EXIT_ENVIRONMENT;
        }
    }
    if (s->status == PROBE_BAD || s->status == PROBE_BROKEN) {
        options_error("%s", probe_error(s->probe));
        return s->status == PROBE_BAD ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    if (status == 0 && s->best.config[0])
        report(s, &shrunk, s->options->runs - s->left);
    return status != 0 ? status : s->status == PROBE_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_OTHER;
}

static int run_shrink(const struct task *task, const struct options *options,
                      const struct config *config)
{
    const struct run_options run = {.timeout = options->timeout};
    struct shrinking s = {.task = task, .options = options, .probe = probe_open(task, &run),
                          .progress = isatty(STDOUT_FILENO) && !options->quiet};
    if (!s.probe) {
        options_error("out of memory");
        return EXIT_ENVIRONMENT;
    }
    const int status = search(&s, config);
    probe_close(s.probe);
    return status;
}

int command_shrink(const struct options *options)
{
    return run_configuration(options, run_shrink);
}
