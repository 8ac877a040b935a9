/* unseen check: one configuration, the reproduction line of every failure */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../reports/terminal.h"
#include "run.h"

static void on_signal(int number)
{
    (void)number;
    run_interrupt();
}

static int parse_config(struct task *task, const char *line, struct config *config)
{
    struct space_error error;
    if (config_parse(config, task->problem, line, "configuration", &error) == 0 &&
        space_contains(&task->space, config, &error))
        return 0;
    options_error("%s", error.text);
    return EXIT_USAGE;
}

static void print_published(const struct config_result *result)
{
    if (result->published_judged)
        printf("  published check says: %s\n", result->published_pass ? "pass" : "fail");
}

static int run_check(const struct task *task, const struct options *options,
                     const struct config *config)
{
    const struct run_options run = {.timeout = options->timeout};
    const struct session_options session_options = run_session_options(task, &run);
    struct session *session = session_open(&session_options);
    struct config_result result = {.unseen = true, .why = "asked for"};
    int findings = 0;
    if (!session) {
        options_error("out of memory");
        return EXIT_ENVIRONMENT;
    }
    config_format(config, result.config, sizeof result.config);
    const enum session_status status = session_check(session, config, &result);
    if (run_interrupted()) {
        session_close(session);
        return EXIT_INTERRUPTED;
    }
    if (status != SESSION_OK) {
        options_error("%s", session_error(session));
        session_close(session);
        return status == SESSION_BAD ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    if (options->quiet)
        printf("%s\n", outcome_name(result.outcome));
    else
        terminal_config(stdout, &result, isatty(STDOUT_FILENO));
    if (options->published)
        print_published(&result);
    const struct finding *finding = session_findings(session, &findings);
    for (int i = 0; i < findings; i++)
        printf("  finding: %s: %s\n", finding[i].kind, finding[i].evidence);
    session_close(session);
    return result.outcome == OUTCOME_PASS && findings == 0 ? EXIT_GENERAL : EXIT_OTHER;
}

int command_check(const struct options *options)
{
    struct task task;
    struct config config;
    const struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    int status = task_open(&task, options);
    if (status != 0)
        return status;
    status = task_contract(&task, options);
    if (status == 0)
        status = parse_config(&task, options->argument[2], &config);
    if (status == 0)
        status = task_build(&task, options->argument[1]);
    if (status == 0)
        status = run_check(&task, options, &config);
    task_clear(&task);
    return status;
}
