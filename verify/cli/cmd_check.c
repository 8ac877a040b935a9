/* unseen check: runs one configuration, as the reproduction command of a failure */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "reports/record/published.h"
#include "prepare.h"
#include "precision.h"
#include "console.h"
#include "show.h"
#include "verify/session/mixture.h"
#include "verify/session/retry_alone.h"
#include "verify/util/clock.h"
#include "verify/session/run.h"
#include "verify/session/session_timing.h"
#include "verify/util/interrupt.h"

enum { PRINTED_LINES = 40 };
static const double time_budget = 0.5; /* seconds */

/* Prints the candidate's standard output and error, for debugging. */
static void print_log(const char *path)
{
    char line[256];
    int lines = 0;
    FILE *log = fopen(path, "re");
    while (log && fgets(line, sizeof line, log)) {
        if (lines++ == PRINTED_LINES) {
            show_line("printed", "... and more");
            break;
        }
        line[strcspn(line, "\n")] = '\0';
        show_line("printed", line);
    }
    if (log)
        fclose(log);
}

static void show_notes(const char *line)
{
    char text[1024];
    for (size_t length = strcspn(line, "\n"); length > 0; length = strcspn(line, "\n")) {
        snprintf(text, sizeof text, "%.*s", (int)length, line);
        show_line("note", text);
        line += length + (line[length] == '\n');
    }
}

static int report(const struct task *task, const struct session *session, const struct config_result *result,
                  const struct options *options, const char *log)
{
    int findings = 0;
    session_findings(session, &findings);
    if (options->quiet) {
        fprintf(show_out(), "%s\n", outcome_name(result->outcome));
    } else {
        show_result(task, result);
        if (options->values)
            show_line("values", options->values);
        show_findings(session);
        if (options->verbose)
            print_log(log);
    }
    /* with --tolerance published the published check decides, as in verify; it looks at outputs only */
    return config_outcome(result, options->published) == OUTCOME_PASS && findings == 0 ? EXIT_GENERAL
                                                                                       : EXIT_OTHER;
}

/* Parses --values, for one call on a blend of two draws. Wrong words are a usage error. */
static int read_values(const struct options *options, const struct config *config, struct mixed *mixed)
{
    char why[400];
    if (options->timed) {
        options_error("--timing and --values were found; expected one of them\n"
                      "---> leave out --timing: what is timed has the values of its own seed");
        return EXIT_USAGE;
    }
    if (mix_parse(config, options->values, mixed, why, sizeof why) == 0)
        return 0;
    options_error("%s", why);
    return EXIT_USAGE;
}

/* As in verify, a timeout is repeated alone. */
static enum session_status check(const struct task *task, const struct session_options *options,
                                 struct session *session, struct config_result *result)
{
    struct retry retry = retry_begin(RETRY_STEP_TIME, result);
    const struct alone_attempt attempt = {.config = &retry.before.config};
    struct alone_limit limit;
    bool repeated;
    enum session_status status = session_check(session, attempt.config, result);
    const struct retry_rule *const rule =
        status == SESSION_OK ? retry_again(&retry, result, RETRY_NO_HANG_YET) : NULL;
    struct alone *const alone = rule ? alone_open(task, options) : NULL;
    if (alone)
        status = alone_repeat(alone, session, &retry, rule, &attempt, result, &limit, &repeated);
    alone_close(alone);
    return status;
}

/* Times the configuration and judges late calls, if it has passed so far. */
static enum session_status time_it(struct task *task, const struct options *options, struct session *session,
                                   const struct config *config, struct config_result *result)
{
    enum session_status status = SESSION_OK;
    if (prepare_ceilings(task, options) != 0 || is_interrupted())
        return SESSION_OK; /* the caller reports an interruption */
    status = session_time(session, config, time_budget, result);
    if (!is_interrupted() && status == SESSION_OK && result->outcome == OUTCOME_PASS)
        status = session_late(session, config, result);
    return status;
}

/* `mix` and `after` NULL: the configuration as drawn, alone. */
static int run_values(struct task *task, const struct options *options, const struct config *config,
                      const struct mix *mix, const struct config *after)
{
    char log[600];
    struct run_options run = {
        .timeout = options->timeout, .memory = options->memory, .processes = precision_processes(options)};
    struct config_result result = {.unseen = true, .config = *config, .why = "asked for"};
    if (mix) /* the configuration line does not contain it */
        snprintf(result.why, sizeof result.why, "asked for, with --values %.60s", options->values);
    int status = EXIT_INTERRUPTED;
    snprintf(log, sizeof log, "%s/output.log", task->build.directory);
    run.log_path = options->verbose ? log : NULL;
    const struct session_options session_options = run_session_options(task, &run);
    struct session *session = session_open(&session_options);
    if (!session) {
        options_error("out of memory");
        return EXIT_ENVIRONMENT;
    }
    config_format(config, result.line, sizeof result.line);
    console_watch(); /* expected values may take long */
    const double start = clock_seconds();
    enum session_status checked = mix     ? session_check_mix(session, mix, &result)
                                  : after ? session_check_after(session, config, after, &result)
                                          : check(task, &session_options, session, &result);
    result.seconds = clock_seconds() - start;
    console_unwatch();
    if (options->timed && !is_interrupted() && checked == SESSION_OK && result.outcome == OUTCOME_PASS)
        checked = time_it(task, options, session, config, &result);
    if (!is_interrupted() && checked == SESSION_OK) {
        if (!options->quiet)
            show_notes(task->ceilings.note);
        status = report(task, session, &result, options, log);
        const int written = show_json(task, options, session, &result, NULL, status == EXIT_GENERAL);
        status = written == 0 ? status : written;
    } else if (!is_interrupted()) {
        options_error("%s", session_error(session));
        status = checked == SESSION_BAD ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    session_close(session);
    return status;
}

static int refuse_both(void)
{
    options_error("--after and --values were found; expected one of them\n"
                  "---> leave out --values: a call after another one has the values of its own seed");
    return EXIT_USAGE;
}

static int run_check(struct task *task, const struct options *options, const struct config *config)
{
    struct mixed mixed = {.mix.of = NULL};
    struct config after;
    int status = options->after && options->values ? refuse_both() : 0;
    if (status == 0 && options->values)
        status = read_values(options, config, &mixed);
    if (status == 0 && options->after)
        status = prepare_step(task, task_config(task, options->after, &after));
    if (status == 0)
        status = run_values(task, options, config, options->values ? &mixed.mix : NULL,
                            options->after ? &after : NULL);
    mixture_close(&mixed.mixture);
    return status;
}

int command_check(const struct options *options)
{
    return prepare_configuration(options, run_check);
}
