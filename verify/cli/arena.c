#include "arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "begin_result.h"
#include "outputs.h"
#include "reports/formats/arena.h"
#include "verify/session/run.h"

int arena_check(const struct options *options)
{
    struct arena_request request;
    if (!options->arena)
        return 0;
    if (!arena_read(options->arena, &request)) {
        options_error("--arena '%s'; expected validate-task, or baseline or candidate with .compile, "
                      ".correctness or .performance\n---> for example --arena candidate.correctness",
                      options->arena);
        return EXIT_USAGE;
    }
    if (!outputs_on_standard(options))
        return 0;
    options_error("--arena beside a document on standard output; expected the line of the protocol alone at "
                  "its end\n---> give the document a file");
    return EXIT_USAGE;
}

bool arena_runs(const struct options *options)
{
    struct arena_request request;
    return !options->arena || !arena_read(options->arena, &request) || request.action == ARENA_CORRECTNESS ||
           request.action == ARENA_PERFORMANCE;
}

/* Why the cases alone do not decide; NULL: they do. */
static const char *failure_of(const struct task *task, const struct result *result, int status, char *text,
                              size_t size)
{
    const enum element_verdict verdict = result ? result->verdict : VERDICT_INCONCLUSIVE;
    if (status == EXIT_USAGE && task && task->uncompiled)
        snprintf(text, size, "the candidate does not compile");
    else if (result && result->partial)
        snprintf(text, size, "%s", result->partial_reason);
    else if (verdict == VERDICT_CHEATING || verdict == VERDICT_FORBIDDEN)
        snprintf(text, size, "the verdict is %.20s: %.300s", verdict_name(verdict),
                 result->finding_count > 0 ? result->finding[0].evidence : "no evidence recorded");
    else if (result && result->without[0])
        snprintf(text, size, "defences were disabled: %.150s", result->without);
    else if (status > EXIT_OTHER)
        snprintf(text, size, "unseen ended with status %d; its message is on standard error", status);
    else
        return NULL;
    return text;
}

/* The cases of an action that does not run the candidate. Returns false when out of memory. */
static bool list_cases(const struct options *options, const struct task *task, struct result *result)
{
    begin_result(task, options, result);
    return run_list(task, result) == 0;
}

int arena_finish(const struct options *options, const struct task *task, const struct result *result,
                 int status)
{
    struct arena_request request;
    struct result listed = {.verdict = VERDICT_INCONCLUSIVE};
    char text[512];
    if (!options->arena || !arena_read(options->arena, &request))
        return status;
    request.device_times = task && task->device.backend == BACKEND_CUDA;
    const char *failure = failure_of(task, result, status, text, sizeof text);
    if (!result && !failure && task) {
        failure = list_cases(options, task, &listed) ? NULL : "out of memory";
        result = &listed;
    }
    const bool passed = arena_print(stdout, &request, result, failure);
    free(listed.results);
    if (passed)
        return EXIT_GENERAL;
    return status == EXIT_GENERAL ? EXIT_OTHER : status;
}
