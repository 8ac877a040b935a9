/* One configuration of a stored result. */
#include "stored_internal.h"

#include <limits.h>

#include <string.h>

const char *stored_outcome_word(int i)
{
    return outcome_name((enum outcome)i);
}

static const char *cause_word(int i)
{
    return cause_name((enum cause)i);
}

static const char *stage_word(int i)
{
    return stage_name((enum stage)i);
}

static const char *side_word(int i)
{
    return side_name((enum side)i);
}

static const char *bound_word(int i)
{
    return bound_name((enum bound)i);
}

static const char *set_word(int i)
{
    return i == 0 ? "seen" : "unseen";
}

static void read_worst(struct reading *r, const json_t *config, struct worst *worst)
{
    const json_t *json = stored_object(r, config, "worst"), *at = stored_array(r, json, "at");

    if (json == NULL)
        return;
    if (json_array_size(at) > WORST_RANK) {
        stored_fail(r, "worst.at", at, "at most 8 numbers");
        return;
    }
    *worst = (struct worst){.present = true,
                            .tensor = stored_text(r, json, "tensor"),
                            .index = stored_whole(r, json, "index", 0, INT64_MAX, 0),
                            .rank = (int)json_array_size(at),
                            .got = stored_number(r, json, "got", 0),
                            .want = stored_number(r, json, "want", 0),
                            .allowed = stored_number(r, json, "allowed", 0),
                            .error = stored_number(r, json, "error", 0),
                            .witnessed = stored_flag(r, json, "witnessed", false)};
    for (int i = 0; i < worst->rank; i++) {
        const json_t *value = json_array_get(at, (size_t)i);

        if (!json_is_integer(value))
            stored_fail(r, "worst.at", value, "whole numbers");
        worst->at[i] = json_integer_value(value);
    }
}

static struct interval read_ratio(struct reading *r, const json_t *json)
{
    const json_t *ratio = stored_object(r, json, "baseline_ratio");

    return (struct interval){ratio != NULL, stored_number(r, ratio, "ratio", 0),
                             stored_number(r, ratio, "low", 0), stored_number(r, ratio, "high", 0)};
}

static void read_timing(struct reading *r, const json_t *config, struct timing *timing)
{
    const json_t *json = stored_object(r, config, "time_ms");

    if (json == NULL)
        return;
    *timing = (struct timing){
        .present = true,
        .median_ms = stored_number(r, json, "median", 0),
        .low_ms = stored_number(r, json, "low", 0),
        .high_ms = stored_number(r, json, "high", 0),
        .min_ms = stored_number(r, json, "min", 0),
        .p95_ms = stored_number(r, json, "p95", 0),
        .samples = stored_count(r, json, "samples"),
        .processes = (int)stored_whole(r, json, "processes", 1, INT_MAX, 1),
        .method = stored_text(r, json, "method"),
        .unmet = stored_text(r, json, "unmet"),
        .baseline_ms = stored_number(r, json, "baseline", 0),
        .baseline_ratio = read_ratio(r, json),
        .disturbed = !stored_flag(r, json, "trusted", true),
        .attainable_ms = stored_number(r, config, "attainable_ms", 0),
        .bound = (enum bound)stored_name(r, config, "bound", bound_word, BOUND_COUNT, BOUND_LAUNCH),
        .fraction = stored_number(r, config, "fraction", 0)};
}

static void read_baseline(struct reading *r, const json_t *json, struct config_result *config)
{
    const json_t *object = stored_object(r, json, "baseline");

    if (object == NULL)
        return;
    config->baseline_judged = stored_text(r, object, "outcome") != NULL;
    config->baseline_outcome =
        (enum outcome)stored_name(r, object, "outcome", stored_outcome_word, OUTCOME_COUNT, OUTCOME_PASS);
}

static void read_told(struct reading *r, const json_t *config, struct told *told)
{
    const json_t *json = stored_object(r, config, "oracle");
    const char *value, *allowed;

    if (json == NULL)
        return;
    value = stored_text(r, json, "value");
    allowed = stored_text(r, json, "allowed");
    *told = (struct told){.present = true,
                          .fp64 = value != NULL && strcmp(value, "fp64") == 0,
                          .ensemble = allowed != NULL && strcmp(allowed, "ensemble") == 0,
                          .constant = stored_flag(r, json, "constant", false),
                          .open = stored_flag(r, json, "open", false)};
}

static void read_reason(struct reading *r, const json_t *config, struct reason *reason)
{
    const json_t *json = stored_object(r, config, "reason");

    *reason = (struct reason){.tensor = -1};
    if (json == NULL)
        return;
    reason->cause = (enum cause)stored_name(r, json, "cause", cause_word, CAUSE_COUNT, CAUSE_NONE);
    reason->stage = (enum stage)stored_name(r, json, "stage", stage_word, STAGE_COUNT, STAGE_FIRST);
    reason->side = (enum side)stored_name(r, json, "side", side_word, SIDE_COUNT, SIDE_NONE);
    reason->tensor = (int)stored_whole(r, json, "tensor", 0, PROBLEM_MAX_TENSORS - 1, -1);
}

static int64_t read_value(struct reading *r, const json_t *value, int axis)
{
    if (r->problem->axes[axis].kind == AXIS_NUMBER) {
        if (!json_is_integer(value))
            stored_fail(r, "values", value, "a whole number for an axis that is one");
        return json_integer_value(value);
    }
    const int choice =
        json_is_string(value) ? problem_choice_index(r->problem, axis, json_string_value(value)) : -1;
    if (choice < 0)
        stored_fail(r, "values", value, "a choice of its axis");
    return choice;
}

static void read_values(struct reading *r, const json_t *json, struct config *config)
{
    const json_t *values = stored_array(r, json, "values");

    config->seed = (uint64_t)stored_whole(r, json, "seed", INT64_MIN, INT64_MAX, 0);
    if (values == NULL || r->problem == NULL)
        return;
    const int axes = problem_axis_count(r->problem);
    if (json_array_size(values) != (size_t)axes) {
        stored_fail(r, "values", values, "a value for each of `axes`");
        return;
    }
    config->problem = r->problem;
    for (int i = 0; i < axes; i++)
        config->value[i] = read_value(r, json_array_get(values, (size_t)i), i);
}

static void read_pair(struct reading *r, const json_t *json, struct result_pair *pair)
{
    const json_t *object = stored_object(r, json, "pair");

    if (object == NULL)
        return;
    pair->present = true;
    stored_copy(r, object, "config", pair->line, sizeof pair->line);
    stored_copy(r, object, "after", pair->after_line, sizeof pair->after_line);
    stored_copy(r, object, "relation", pair->relation, sizeof pair->relation);
}

static void read_derived(struct reading *r, const json_t *json, struct config_result *config)
{
    const json_t *const list = stored_array(r, json, "derived"), *value;
    size_t i;

    json_array_foreach(list, i, value)
    {
        if (i >= RESULT_DERIVED || !json_is_integer(value)) {
            stored_fail(r, "derived", value, "a whole number for each of the result's `derived`");
            return;
        }
        config->derived[i] = json_integer_value(value);
    }
    config->derived_known = list != NULL;
}

void stored_config(struct reading *r, const json_t *json, struct config_result *config)
{
    const json_t *elements = stored_object(r, json, "elements"),
                 *published = json_object_get(json, "published");

    *config = (struct config_result){
        .unseen = stored_name(r, json, "set", set_word, 2, 0) == 1,
        .scout = stored_flag(r, json, "scout", false),
        .outcome = (enum outcome)stored_name(r, json, "outcome", stored_outcome_word, OUTCOME_COUNT,
                                             OUTCOME_SKIPPED),
        .fits = stored_text(r, json, "fits"),
        .arithmetic = (int)stored_whole(r, json, "arithmetic", INT32_MIN, INT32_MAX, 0),
        .judged = stored_whole(r, elements, "judged", 0, INT64_MAX, 0),
        .wrong = stored_whole(r, elements, "wrong", 0, INT64_MAX, 0),
        .open = stored_whole(r, elements, "open", 0, INT64_MAX, 0),
        .witnessed = stored_whole(r, elements, "witnessed", 0, INT64_MAX, 0),
        .flops = stored_number(r, json, "flops", 0),
        .bytes = stored_number(r, json, "bytes", 0),
        .published_judged = json_is_boolean(published),
        .published_pass = json_is_true(published)};
    if (stored_text(r, json, "outcome") == NULL)
        stored_fail(r, "outcome", json_object_get(json, "outcome"), "an outcome");
    stored_copy(r, json, "config", config->line, sizeof config->line);
    stored_copy(r, json, "why", config->why, sizeof config->why);
    stored_copy(r, json, "detail", config->detail, sizeof config->detail);
    stored_copy(r, json, "timed_config", config->timed_line, sizeof config->timed_line);
    read_values(r, json, &config->config);
    read_derived(r, json, config);
    read_reason(r, json, &config->reason);
    read_worst(r, json, &config->worst);
    read_timing(r, json, &config->timing);
    read_baseline(r, json, config);
    read_told(r, json, &config->told);
    read_pair(r, json, &config->pair);
}
