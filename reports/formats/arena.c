#include "arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/json/json_values.h"
#include "reports/record/published.h"
#include "reports/record/summary.h"
#include "reports/record/text.h"

static const char mismatch[] = "numerical_mismatch", execution[] = "execution_failure";

static const char *const actions[] = {
    [ARENA_VALIDATE] = "validate-task",
    [ARENA_COMPILE] = "compile",
    [ARENA_CORRECTNESS] = "correctness",
    [ARENA_PERFORMANCE] = "performance",
};

bool arena_read(const char *text, struct arena_request *request)
{
    static const char *const roles[] = {"baseline", "candidate"};

    *request = (struct arena_request){.role = "task", .action = ARENA_VALIDATE};
    if (strcmp(text, actions[ARENA_VALIDATE]) == 0)
        return true;
    for (int i = 0; i < 2; i++) {
        const size_t length = strlen(roles[i]);

        request->role = roles[i];
        for (int a = ARENA_COMPILE; a <= ARENA_PERFORMANCE && strncmp(text, roles[i], length) == 0; a++) {
            request->action = (enum arena_action)a;
            if (text[length] == '.' && strcmp(text + length + 1, actions[a]) == 0)
                return true;
        }
    }
    return false;
}

static bool is_timed(const struct config_result *config)
{
    return !config->scout && !config->directed;
}

/* The input's identity, which must be the same in every action. */
static json_t *identity_of(const struct config_result *config)
{
    const struct problem *const problem = config->config.problem;
    json_t *const params = json_object();

    for (int i = 0; problem != NULL && problem->axes[i].name != NULL; i++)
        json_object_set_new(params, problem->axes[i].name,
                            problem->axes[i].kind == AXIS_NUMBER
                                ? json_integer(config->config.value[i])
                                : json_string(problem_choice(problem, i, config->config.value[i])));
    json_object_set_new(params, "seed", json_integer((json_int_t)config->config.seed));
    return params;
}

static const char *failure_kind(enum outcome outcome)
{
    return outcome == OUTCOME_WRONG || outcome == OUTCOME_UNWRITTEN || outcome == OUTCOME_UNSTABLE
               ? mismatch
               : execution;
}

static json_t *metrics_of(const struct config_result *config)
{
    json_t *const metrics = json_object();

    json_object_set_new(metrics, "judged_elements", json_integer(config->judged));
    json_object_set_new(metrics, "wrong_elements", json_integer(config->wrong));
    if (config->errors.present && isfinite(config->errors.absolute))
        json_object_set_new(metrics, "max_absolute_error", json_real(config->errors.absolute));
    if (config->errors.present && isfinite(config->errors.relative))
        json_object_set_new(metrics, "max_relative_error", json_real(config->errors.relative));
    return metrics;
}

/* Why this case fails; NULL: it passes. */
static const char *case_failure(const struct arena_request *request, const struct config_result *config,
                                enum outcome outcome)
{
    const struct timing *const timing = &config->timing;

    if (request->action == ARENA_VALIDATE)
        return NULL;
    if (outcome != OUTCOME_PASS)
        return text_or(config->detail, outcome_name(outcome));
    if (request->action != ARENA_PERFORMANCE)
        return NULL;
    if (!timing->present)
        return "it was not timed";
    if (!request->device_times)
        return "its time is that of the host's clock; the protocol wants a device's";
    return timing->disturbed ? "its time is not reliable: others used the device" : NULL;
}

static json_t *case_of(const struct arena_request *request, const struct config_result *config,
                       enum outcome outcome)
{
    const char *const failure = case_failure(request, config, outcome);
    json_t *const made = json_pack("{s:s, s:s, s:o, s:{s:s}}", "test_case_id", config->line, "status",
                                   failure == NULL ? "PASS" : "FAIL", "params", identity_of(config),
                                   "metadata", "set", config->unseen ? "unseen" : "seen");

    if (request->action == ARENA_VALIDATE) {
        json_object_set_new(made, "checks",
                            is_timed(config) ? json_pack("[s, s]", "correctness", "performance")
                                             : json_pack("[s]", "correctness"));
        return made;
    }
    json_object_set_new(made, "metrics", metrics_of(config));
    if (failure != NULL) {
        json_object_set_new(made, "failure_kind", json_string(failure_kind(outcome)));
        json_object_set_new(made, "reason", json_of_text(failure));
    } else if (request->action == ARENA_PERFORMANCE) {
        json_object_set_new(made, "execution_time_ms", json_real(config->timing.median_ms));
        json_object_set_new(made, "benchmark_method", json_string("cuda_event_fallback"));
    }
    return made;
}

/* Counts of an action's cases. */
struct counts {
    int all, failed, mismatches;
};

/* Ids are unique in the protocol, so an equal line is one case. */
static bool is_repeated(const struct result *result, int i)
{
    for (int k = 0; k < i; k++)
        if (strcmp(result->results[k].line, result->results[i].line) == 0)
            return true;
    return false;
}

static json_t *cases_of(const struct arena_request *request, const struct result *result,
                        struct counts *counts)
{
    json_t *const cases = json_array();

    *counts = (struct counts){0};
    for (int i = 0; result != NULL && i < result->result_count; i++) {
        const struct config_result *const config = &result->results[i];
        const enum outcome outcome = config_outcome(config, published_decides(result));

        if (request->action == ARENA_COMPILE || (request->action == ARENA_PERFORMANCE && !is_timed(config)))
            continue;
        const bool fails = case_failure(request, config, outcome) != NULL;
        counts->all++;
        counts->failed += fails;
        counts->mismatches += fails && failure_kind(outcome) == mismatch;
        if (!is_repeated(result, i))
            json_array_append_new(cases, case_of(request, config, outcome));
    }
    return cases;
}

static json_t *metadata_of(const struct result *result)
{
    if (result == NULL)
        return json_pack("{s:s}", "tool", "unseen");
    return json_pack("{s:s, s:o, s:o, s:o, s:I, s:s}", "tool", "unseen", "version",
                     json_of_text(result->version), "problem", json_of_text(result->problem),
                     "candidate_sha256", json_of_text(result->candidate_sha256), "seed",
                     (json_int_t)result->seed, "commitment", result->commitment);
}

/* Why the action fails; NULL: it passes. */
static const char *action_failure(const struct arena_request *request, const struct result *result,
                                  const char *failure, const struct counts *counts, char text[SUMMARY_SIZE])
{
    if (failure != NULL)
        return failure;
    if (counts->failed > 0 && request->action == ARENA_PERFORMANCE)
        snprintf(text, SUMMARY_SIZE, "%d of %d cases have no time that counts", counts->failed, counts->all);
    else if (counts->failed > 0)
        summary_verdict(text, result);
    else if (counts->all == 0 && request->action != ARENA_COMPILE)
        snprintf(text, SUMMARY_SIZE, "there is no case");
    else
        return NULL;
    return text;
}

bool arena_print(FILE *out, const struct arena_request *request, const struct result *result,
                 const char *failure)
{
    char text[SUMMARY_SIZE];
    struct counts counts;
    json_t *const cases = cases_of(request, result, &counts);
    const char *const why = action_failure(request, result, failure, &counts, text);
    json_t *const line =
        json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "protocol", "arena-eval-v1", "role", request->role,
                  "action", actions[request->action], "status", why == NULL ? "PASS" : "FAIL", "cases", cases,
                  "metadata", metadata_of(result));

    if (why != NULL) {
        const bool only = counts.failed > 0 && counts.mismatches == counts.failed;
        json_object_set_new(line, "reason", json_of_text(text_or(why, "no reason")));
        json_object_set_new(line, "failure_kind", json_string(only ? mismatch : execution));
    }
    char *const dumped = line != NULL ? json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    fprintf(out, "ARENA_EVAL_RESULT=%s\n", text_or(dumped, "{}"));
    free(dumped);
    json_decref(line);
    return why == NULL && dumped != NULL;
}
