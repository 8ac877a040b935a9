/* unseen shrink: finds the simplest configuration that fails in the same way */
#include <stdio.h>
#include <unistd.h>

#include "reports/terminal/terminal.h"
#include "prepare.h"
#include "show.h"
#include "verify/diagnose/pairs.h"

enum { RATE_RUNS = 10 };

struct shrink_command {
    const struct task *task;
    const struct options *options;
    struct shrinking shrinking;
    bool progress;
    const struct config *after; /* configuration called first in the same process; NULL: none */
};

static void show_step(void *data, const struct config_result *result)
{
    const struct shrink_command *c = data;
    const struct shrinking *s = &c->shrinking;
    if (c->progress)
        terminal_progress_clear(show_out());
    if (c->options->verbose)
        fprintf(show_out(), "  %-11s%s\n", outcome_name(shrinking_outcome(s, result)), result->line);
    if (c->progress) {
        char text[128];
        snprintf(text, sizeof text, "%d runs left, now %.90s", s->runs - s->spent, s->best.line);
        terminal_status(show_out(), text);
    }
    fflush(show_out());
}

/* --- the first configuration --- */

static int refuse(const struct shrink_command *c, const struct config_result *first, int runs)
{
    if (shrinking_outcome(&c->shrinking, first) == OUTCOME_SKIPPED) {
        options_error("%s: %s; a configuration that can be judged was expected\n---> try a smaller one",
                      first->line, first->detail[0] ? first->detail : "nothing was judged");
        return EXIT_ENVIRONMENT;
    }
    options_error("%s passes, %d times of %d; a configuration on which %s fails was expected\n"
                  "---> take one from the report of unseen verify, with its seed",
                  first->line, runs, runs, c->options->argument[1]);
    return EXIT_USAGE;
}

/* Runs the configuration more than once, since a failure may be intermittent. */
static int run_first(struct shrink_command *c, const struct config *config)
{
    struct shrinking *s = &c->shrinking;
    struct config_result first;
    enum outcome outcome = OUTCOME_PASS;
    int runs = 0;
    while (outcome == OUTCOME_PASS && runs < SHRINKING_TRIES) {
        if (!shrinking_run(s, config, &first))
            return 0;
        outcome = shrinking_outcome(s, &first);
        runs++;
    }
    if (outcome == OUTCOME_PASS || outcome == OUTCOME_SKIPPED)
        return refuse(c, &first, runs);
    shrinking_from(s, &first);
    s->flaky = runs > 1;
    if (!s->flaky)
        shrinking_repeat(s, config, 1);
    return 0;
}

/* --- the report --- */

static void print_rate(struct shrinking *s)
{
    const struct shrinking_rate rate = shrinking_again(s, &s->shrunk.config, RATE_RUNS);
    char text[128];
    snprintf(text, sizeof text,
             "%d of %d further runs fail, %d of them this way: a race, or memory never set", rate.failed,
             rate.runs, rate.same);
    if (rate.runs > 0)
        show_line("repeats", text);
}

static void print_search(const struct shrinking *s)
{
    char text[RESULT_LINE_SIZE + 200];
    const char *const how = s->status == PROBE_INTERRUPTED ? "interrupted: a simpler one may still fail"
                            : !s->shrunk.minimal ? "the runs ended: with --runs a simpler one may be found"
                            : s->skipped         ? "locally minimal among what this machine can run"
                                                 : "locally minimal: no single simpler step fails this way";
    snprintf(text, sizeof text, "%d run%s, %s", s->spent, s->spent == 1 ? "" : "s", how);
    show_line("shrunk", text);
    if (!config_equal(&s->from.config, &s->best.config) || s->best.pair.present)
        show_line("from", s->from.line);
}

static void report(struct shrink_command *c)
{
    struct shrinking *s = &c->shrinking;
    if (c->progress)
        terminal_progress_clear(show_out());
    if (c->options->quiet) {
        fprintf(show_out(), "%s%s%s\n", s->best.line, s->best.pair.present ? " after " : "",
                s->best.pair.present ? s->best.pair.after_line : "");
        return;
    }
    show_result(c->task, &s->best);
    show_findings(probe_session(s->probe));
    print_search(s);
    if (s->flaky)
        print_rate(s);
    show_command(c->options, c->task, &s->best);
}

static int write_json(struct shrink_command *c)
{
    struct shrinking *s = &c->shrinking;
    struct diagnosis diagnosis = {
        .present = true, .minimal = s->best, .locally_minimal = s->shrunk.minimal, .shrink_runs = s->spent};
    if (!c->options->report[REPORT_JSON])
        return 0;
    if (s->status == PROBE_OK && !c->after)
        shrinking_pattern(s, &diagnosis.pattern);
    return show_json(c->task, c->options, probe_session(s->probe), &s->from, &diagnosis, false);
}

/* Shrinks the failure of a pair; rejected if `config` passes after the other one, or fails alone. */
static int run_pair(struct shrink_command *c, const struct config *config, const struct config *after)
{
    struct shrinking *s = &c->shrinking;
    struct config_result first;
    if (!shrinking_after(s, config, after, &first))
        return 0;
    if (first.pair.present) {
        pairs_shrink(s, &first);
        return 0;
    }
    const bool passes = shrinking_outcome(s, &first) == OUTCOME_PASS;
    options_error("%s %s; a configuration that fails only after the one of --after was expected\n"
                  "---> %s",
                  first.line, passes ? "passes after the other one" : "fails by itself",
                  passes ? "take both from one line of the report, with their seeds" : "leave out --after");
    return EXIT_USAGE;
}

static int search(struct shrink_command *c, const struct config *config)
{
    struct shrinking *s = &c->shrinking;
    const int status = c->after ? run_pair(c, config, c->after) : run_first(c, config);
    if (status == 0 && !c->after && s->status == PROBE_OK && shrinking_search(s, config) != 0) {
        options_error("out of memory");
        return EXIT_ENVIRONMENT;
    }
    if (s->status == PROBE_BAD || s->status == PROBE_BROKEN) {
        options_error("%s", probe_error(s->probe));
        return s->status == PROBE_BAD ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    if (status == 0 && s->best.config.problem) {
        report(c);
        const int written = write_json(c);
        if (written != 0)
            return written;
    }
    return status != 0 ? status : s->status == PROBE_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_OTHER;
}

static int run_shrink(struct task *task, const struct options *options, const struct config *config)
{
    const struct run_options run = {.timeout = options->timeout, .memory = options->memory};
    struct shrink_command c = {
        .task = task, .options = options, .progress = isatty(fileno(show_out())) && !options->quiet};
    c.shrinking = (struct shrinking){.probe = probe_open(task, &run),
                                     .space = &task->space,
                                     .published = options->published,
                                     .steps = options->runs,
                                     .runs = options->runs,
                                     .observe = show_step,
                                     .observe_data = &c};
    if (!c.shrinking.probe) {
        options_error("out of memory");
        return EXIT_ENVIRONMENT;
    }
    struct config after;
    int status = options->after ? prepare_step(task, task_config(task, options->after, &after)) : 0;
    c.after = options->after ? &after : NULL;
    if (status == 0)
        status = search(&c, config);
    probe_close(c.shrinking.probe);
    return status;
}

int command_shrink(const struct options *options)
{
    return prepare_configuration(options, run_shrink);
}
