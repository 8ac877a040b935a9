#include "trace.h"

#include <stdlib.h>
#include <string.h>

#include "reports/json/json_values.h"
#include "reports/record/published.h"
#include "reports/record/summary.h"
#include "reports/record/text.h"
#include "reports/record/workload_uuid.h"

/* The status words of the benchmark; NULL: it was not evaluated. It has no words for memory, so what goes
 * wrong with memory is an error at run time. */
static const char *status_of(const struct result *result, enum outcome outcome)
{
    static const char numerical[] = "INCORRECT_NUMERICAL", runtime[] = "RUNTIME_ERROR";
    static const char *const words[OUTCOME_COUNT] = {
        [OUTCOME_PASS] = "PASSED",      [OUTCOME_WRONG] = numerical, [OUTCOME_UNWRITTEN] = numerical,
        [OUTCOME_UNSTABLE] = numerical, [OUTCOME_OVERRUN] = runtime, [OUTCOME_MODIFIED] = runtime,
        [OUTCOME_REFUSED] = runtime,    [OUTCOME_CRASH] = runtime,   [OUTCOME_EXCEEDED] = runtime,
        [OUTCOME_TIMEOUT] = "TIMEOUT",
    };

    return outcome == OUTCOME_SKIPPED && result->unloadable ? "COMPILE_ERROR" : words[outcome];
}

/* The problem of a stored result has axes only. The tool's own problems are known by their names. */
static const struct problem *tensors_of(const struct result *result, const struct config_result *config)
{
    const struct problem *const problem = config->config.problem;

    if (problem != NULL && problem->tensors != NULL && problem->tensors[0].name != NULL)
        return problem;
    if (result->problem == NULL ||
        strcmp(text_or(result->problem_word, result->problem), result->problem) != 0)
        return NULL; /* it is in a folder */
    return problem_find(result->problem);
}

static json_t *axes_of(const struct config *config)
{
    json_t *const axes = json_object();

    for (int i = 0; config->problem != NULL && config->problem->axes[i].name != NULL; i++)
        if (config->problem->axes[i].kind == AXIS_NUMBER)
            json_object_set_new(axes, config->problem->axes[i].name, json_integer(config->value[i]));
    return axes;
}

static json_t *inputs_of(const struct problem *problem)
{
    json_t *const inputs = json_object();
    const struct tensor *const tensors = problem != NULL ? problem->tensors : NULL;

    for (int t = 0; tensors != NULL && tensors[t].name != NULL; t++)
        if (tensors[t].role != TENSOR_OUTPUT)
            json_object_set_new(inputs, tensors[t].name, json_pack("{s:s}", "type", "random"));
    return inputs;
}

static json_t *workload_of(const struct result *result, const struct config_result *config)
{
    char uuid[WORKLOAD_UUID_SIZE];

    workload_uuid(uuid, text_or(result->problem, "unseen"), config->line);
    return json_pack("{s:o, s:o, s:o}", "axes", axes_of(&config->config), "inputs",
                     inputs_of(tensors_of(result, config)), "uuid",
                     json_of_text(text_or(config->workload, uuid)));
}

/* The benchmark writes numbers that are not finite as texts, too, and in these words. */
static json_t *error_of(double error)
{
    return error <= 0x1p1023 ? json_real(error) : json_string(error > 0 ? "Infinity" : "NaN");
}

static json_t *correctness_of(const struct config_result *config)
{
    json_t *const made =
        json_pack("{s:{s:s, s:s, s:I, s:I}}", "extra", "set", config->unseen ? "unseen" : "seen", "outcome",
                  outcome_name(config->outcome), "judged_elements", (json_int_t)config->judged,
                  "wrong_elements", (json_int_t)config->wrong);

    if (made != NULL && config->errors.present) {
        json_object_set_new(made, "max_relative_error", error_of(config->errors.relative));
        json_object_set_new(made, "max_absolute_error", error_of(config->errors.absolute));
    }
    return made;
}

/* Times that others disturbed are not known. */
static json_t *performance_of(const struct timing *timing)
{
    json_t *const made = json_object();

    if (!timing->present || timing->disturbed)
        return made;
    json_object_set_new(made, "latency_ms", json_real(timing->median_ms));
    if (timing->baseline_ms > 0) {
        json_object_set_new(made, "reference_latency_ms", json_real(timing->baseline_ms));
        json_object_set_new(made, "speedup_factor", json_real(timing->baseline_ms / timing->median_ms));
    }
    return made;
}

static json_t *environment_of(const struct result *result)
{
    json_t *const libs = json_object();

    json_object_set_new(libs, "unseen", json_of_text(text_or(result->version, "unknown")));
    if (*result->driver)
        json_object_set_new(libs, "driver", json_of_text(result->driver));
    return json_pack("{s:o, s:o}", "hardware", json_of_text(text_or(result->device, "unknown")), "libs",
                     libs);
}

static json_t *log_of(const struct result *result, const struct config_result *config, enum outcome outcome)
{
    char *const command = summary_command_text(result, config);
    char text[4096];

    if (outcome == OUTCOME_PASS)
        snprintf(text, sizeof text, "%.700s", config->line);
    else
        snprintf(text, sizeof text, "%.700s: %.20s, %.900s\nRun it again: %.2000s", config->line,
                 outcome_name(outcome), text_or(config->detail, text_or(result->partial_reason, "no detail")),
                 text_or(command, "unseen check"));
    free(command);
    return json_of_text(text);
}

static json_t *evaluation_of(const struct result *result, const struct config_result *config,
                             enum outcome outcome)
{
    const char *const status = status_of(result, outcome);
    const bool passed = outcome == OUTCOME_PASS;
    const bool numbers = passed || strcmp(status, "INCORRECT_NUMERICAL") == 0;

    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "status", status, "environment",
                     environment_of(result), "timestamp", json_of_text(text_or(result->started, "unknown")),
                     "log", log_of(result, config, outcome), "correctness",
                     numbers ? correctness_of(config) : json_null(), "performance",
                     passed ? performance_of(&config->timing) : json_null());
}

/* The candidate's file name without its ending. */
static json_t *solution_of(const struct result *result)
{
    const char *const slash = strrchr(result->candidate_path, '/');
    char name[sizeof result->candidate_path];

    snprintf(name, sizeof name, "%s", slash != NULL ? slash + 1 : result->candidate_path);
    char *const dot = strrchr(name, '.');
    if (dot != NULL && dot != name)
        *dot = '\0';
    return json_of_text(text_or(name, "candidate"));
}

static void print_one(FILE *out, const struct result *result, const struct config_result *config)
{
    const enum outcome outcome = config_outcome(config, published_decides(result));
    const bool ran = status_of(result, outcome) != NULL;
    json_t *const line = json_pack(
        "{s:o, s:o, s:o, s:o}", "definition", json_of_text(text_or(result->problem, "unseen")), "workload",
        workload_of(result, config), "solution", ran ? solution_of(result) : json_null(), "evaluation",
        ran ? evaluation_of(result, config, outcome) : json_null());
    char *const text = line != NULL ? json_dumps(line, JSON_COMPACT) : NULL;

    if (text != NULL)
        fprintf(out, "%s\n", text);
    free(text);
    json_decref(line);
}

void trace_print(FILE *out, const struct result *const *results, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < results[i]->result_count; k++)
            print_one(out, results[i], &results[i]->results[k]);
}
