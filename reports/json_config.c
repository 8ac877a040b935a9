/* JSON of one configuration. */
#include "json_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "told.h"
#include "text.h"

json_t *json_of_number(double value)
{
    char buffer[TEXT_NUMBER_SIZE];

    return isfinite(value) ? json_real(value) : json_string(text_number(buffer, value, 17));
}

json_t *json_of_number_if(bool applies, double value)
{
    return applies ? json_of_number(value) : json_null();
}

json_t *json_of_text(const char *value)
{
    json_t *string;
    char *copy;

    if (value == NULL || value[0] == '\0')
        return json_null();
    string = json_string(value);
    if (string != NULL)
        return string;
    copy = strdup(value);
    if (copy == NULL)
        return NULL;
    for (char *c = copy; *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    string = json_string(copy);
    free(copy);
    return string;
}

/* `index` is the flat index, `at` the same element by dimension. */
static json_t *worst_json(const struct worst *worst)
{
    json_t *at;

    if (!worst->present)
        return json_null();
    at = json_array();
    for (int i = 0; i < worst->rank && i < WORST_RANK; i++)
        json_array_append_new(at, json_integer(worst->at[i]));
    return json_pack("{s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:b}", "tensor", json_of_text(worst->tensor),
                     "index", (json_int_t)worst->index, "at", at, "got", json_of_number(worst->got), "want",
                     json_of_number(worst->want), "allowed", json_of_number(worst->allowed), "error",
                     json_of_number(worst->error), "witnessed", worst->witnessed);
}

static json_t *ratio_json(const struct interval *ratio)
{
    if (!ratio->present)
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "ratio", json_of_number(ratio->value), "low",
                     json_of_number(ratio->low), "high", json_of_number(ratio->high));
}

static json_t *time_json(const struct timing *timing)
{
    if (!timing->present)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:b}", "median",
                     json_of_number(timing->median_ms), "low", json_of_number(timing->low_ms), "high",
                     json_of_number(timing->high_ms), "min", json_of_number(timing->min_ms), "p95",
                     json_of_number(timing->p95_ms), "samples", timing->samples, "processes",
                     timing->processes > 0 ? timing->processes : 1, "method", json_of_text(timing->method),
                     "unmet", json_of_text(timing->unmet), "baseline",
                     json_of_number_if(timing->baseline_ms > 0, timing->baseline_ms), "baseline_ratio",
                     ratio_json(&timing->baseline_ratio), "trusted", !timing->disturbed);
}

static json_t *told_json(const struct told *told)
{
    if (!told->present)
        return json_null();
    return json_pack("{s:s, s:s, s:s, s:b, s:b}", "label", told_label(told), "value",
                     told->fp64 ? "fp64" : "enclosed", "allowed", told->ensemble ? "ensemble" : "bound",
                     "constant", told->constant, "open", told->open);
}

static json_t *reason_json(const struct reason *reason)
{
    const bool named = reason->cause == CAUSE_GUARD || reason->cause == CAUSE_SLACK ||
                       reason->cause == CAUSE_GAP || reason->cause == CAUSE_INPUT;

    return json_pack("{s:s, s:s, s:o, s:o}", "cause", cause_name(reason->cause), "stage",
                     stage_name(reason->stage), "side", json_of_text(side_name(reason->side)), "tensor",
                     named && reason->tensor >= 0 ? json_integer(reason->tensor) : json_null());
}

/* Values in the order of `axes`: numbers, and choices by name. */
static json_t *values_json(const struct config *config)
{
    const struct axis *axes = config->problem != NULL ? config->problem->axes : NULL;
    json_t *array;

    if (axes == NULL)
        return json_null();
    array = json_array();
    for (int i = 0; axes[i].name != NULL; i++)
        if (json_array_append_new(
                array, axes[i].kind == AXIS_NUMBER
                           ? json_integer(config->value[i])
                           : json_of_text(problem_choice(config->problem, i, config->value[i]))) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* Derived sizes in the order of the result's `derived`. */
static json_t *derived_json(const struct config_result *config)
{
    const struct derived *derived = config->config.problem != NULL ? config->config.problem->derived : NULL;
    json_t *array;

    if (!config->derived_known || derived == NULL)
        return json_null();
    array = json_array();
    for (int i = 0; i < RESULT_DERIVED && derived[i].name != NULL; i++)
        json_array_append_new(array, json_integer(config->derived[i]));
    return array;
}

json_t *json_of_derived(const struct result *result)
{
    const struct problem *problem = result_problem(result);
    json_t *array = json_array();

    for (int i = 0; problem != NULL && problem->derived != NULL && i < RESULT_DERIVED; i++) {
        if (problem->derived[i].name == NULL)
            break;
        json_array_append_new(array, json_of_text(problem->derived[i].name));
    }
    return array;
}

/* Outcome and time of the baseline on this configuration. */
static json_t *baseline_json(const struct config_result *config)
{
    const struct timing *timing = &config->timing;
    const bool timed = timing->present && timing->baseline_ms > 0;

    if (!config->baseline_judged && !timed)
        return json_null();
    return json_pack("{s:o, s:o}", "outcome",
                     json_of_text(config->baseline_judged ? outcome_name(config->baseline_outcome) : NULL),
                     "median", json_of_number_if(timed, timing->baseline_ms));
}

static json_t *pair_json(const struct result_pair *pair)
{
    if (!pair->present)
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "config", json_of_text(pair->line), "after",
                     json_of_text(pair->after_line), "relation", json_of_text(pair->relation));
}

json_t *json_of_config(const struct config_result *config)
{
    const struct timing *timing = &config->timing;

    return json_pack("{s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:{s:I, s:I, s:I, s:I}, s:o, s:o,"
                     " s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:o, s:I, s:o, s:b, s:o, s:o}",
                     "set", config->unseen ? "unseen" : "seen", "config", json_of_text(config->line), "why",
                     json_of_text(config->why), "outcome", outcome_name(config->outcome), "detail",
                     json_of_text(config->detail), "worst", worst_json(&config->worst), "timed_config",
                     json_of_text(config->timed_line), "time_ms", time_json(timing), "fits",
                     json_of_text(config->fits), "elements", "judged", (json_int_t)config->judged, "wrong",
                     (json_int_t)config->wrong, "open", (json_int_t)config->open, "witnessed",
                     (json_int_t)config->witnessed, "flops", json_of_number(config->flops), "bytes",
                     json_of_number(config->bytes), "attainable_ms",
                     json_of_number_if(timing->present, timing->attainable_ms), "bound",
                     json_of_text(timing->present ? bound_name(timing->bound) : NULL), "fraction",
                     json_of_number_if(timing->present, timing->fraction), "published",
                     config->published_judged ? json_boolean(config->published_pass) : json_null(), "oracle",
                     told_json(&config->told), "reason", reason_json(&config->reason), "arithmetic",
                     config->arithmetic, "values", values_json(&config->config), "seed",
                     (json_int_t)config->config.seed, "baseline", baseline_json(config), "scout",
                     config->scout, "pair", pair_json(&config->pair), "derived", derived_json(config));
}

static json_t *choices_json(const struct problem *problem, int axis)
{
    json_t *array;

    if (problem->axes[axis].kind == AXIS_NUMBER)
        return json_null();
    array = json_array();
    for (int i = 0; problem_choice(problem, axis, i) != NULL; i++)
        if (json_array_append_new(array, json_of_text(problem_choice(problem, axis, i))) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

json_t *json_of_axes(const struct result *result)
{
    const struct problem *problem = result_problem(result);
    json_t *array;

    if (problem == NULL)
        return json_null();
    array = json_array();
    for (int i = 0; problem->axes[i].name != NULL; i++)
        if (json_array_append_new(array, json_pack("{s:s, s:s, s:o}", "name", problem->axes[i].name, "kind",
                                                   problem->axes[i].kind == AXIS_NUMBER ? "number" : "choice",
                                                   "choices", choices_json(problem, i))) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}
