/* Table of one configuration as it ran. */
#include <limits.h>
#include <string.h>

#include "json_fields.h"
#include "json_values.h"
#include "reports/record/published.h"
#include "json_read_internal.h"
#include "reports/record/oracle_quality.h"

static const char *outcome_word(int i)
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

const struct names outcome_names = {"outcome", outcome_word, OUTCOME_COUNT};
static const struct names cause_names = {NULL, cause_word, CAUSE_COUNT};
static const struct names stage_names = {NULL, stage_word, STAGE_COUNT};
static const struct names side_names = {NULL, side_word, SIDE_COUNT};
static const struct names bound_names = {NULL, bound_word, BOUND_COUNT};

/* ---- The worst element ---- */

static json_t *write_at(const void *record)
{
    const struct worst *const worst = record;
    json_t *array = json_array();

    for (int i = 0; i < worst->rank && i < WORST_RANK; i++)
        json_array_append_new(array, json_integer(worst->at[i]));
    return array;
}

static void read_at(struct reading *r, const json_t *object, const char *key, void *record)
{
    const json_t *const at = json_read_array(r, object, key);
    struct worst *const worst = record;

    if (json_array_size(at) > WORST_RANK) {
        json_read_fail(r, "worst.at", at, "at most 8 numbers");
        return;
    }
    worst->rank = (int)json_array_size(at);
    for (int i = 0; i < worst->rank; i++) {
        const json_t *value = json_array_get(at, (size_t)i);

        if (!json_is_integer(value))
            json_read_fail(r, "worst.at", value, "whole numbers");
        worst->at[i] = json_integer_value(value);
    }
}

static const struct field worst_fields[] = {
    FIELD(struct worst, STRING, "tensor", tensor, "its name"),
    FIELD(struct worst, WHOLE, "index", index, "flat index of the element"),
    FIELD(struct worst, OWN, "at", at, "the same index by dimension", .write = write_at, .read = read_at,
          .schema = "{\"type\": \"array\", \"items\": {\"type\": \"integer\"}}"),
    FIELD(struct worst, NUMBER, "got", got, NULL),
    FIELD(struct worst, NUMBER, "want", want, NULL),
    FIELD(struct worst, NUMBER, "allowed", allowed, "allowed error"),
    FIELD(struct worst, NUMBER, "error", error, "|got - want|"),
    FIELD(struct worst, BOOL, "witnessed", witnessed, "`want` was computed by MPFR"),
    FIELD_END,
};
static const struct record worst_record = {
    .size = sizeof(struct worst), .optional = true, .fields = worst_fields};

static const struct field errors_fields[] = {
    FIELD(struct greatest_errors, NUMBER, "absolute", absolute, "|got - want|"),
    FIELD(struct greatest_errors, NUMBER, "relative", relative, "|got - want| / (|want| + 1e-8)"),
    FIELD_END,
};
static const struct record errors_record = {.about = "greatest errors of all elements, over all calls",
                                            .size = sizeof(struct greatest_errors),
                                            .optional = true,
                                            .fields = errors_fields};

/* ---- Times ---- */

static const struct field ratio_fields[] = {
    FIELD(struct interval, NUMBER, "ratio", value, NULL),
    FIELD(struct interval, NUMBER, "low", low, NULL),
    FIELD(struct interval, NUMBER, "high", high, NULL),
    FIELD_END,
};
const struct record ratio_record = {.about = "a ratio with its 95% interval",
                                    .size = sizeof(struct interval),
                                    .optional = true,
                                    .fields = ratio_fields};

static const struct field timing_fields[] = {
    FIELD(struct timing, NUMBER, "median", median_ms, "of several processes: the mean of their medians"),
    FIELD(struct timing, NUMBER, "low", low_ms, "95% interval of `median`"),
    FIELD(struct timing, NUMBER, "high", high_ms, NULL),
    FIELD(struct timing, NUMBER, "min", min_ms, NULL),
    FIELD(struct timing, NUMBER, "p95", p95_ms, NULL),
    FIELD(struct timing, COUNT, "samples", samples, NULL),
    FIELD(struct timing, COUNT, "processes", processes, NULL, .low = 1, .otherwise = 1),
    FIELD(struct timing, STRING, "method", method, NULL),
    FIELD(struct timing, STRING, "unmet", unmet,
          "why sampling stopped before the interval was narrow enough"),
    FIELD(struct timing, POSITIVE, "baseline", baseline_ms, "the baseline's time"),
    FIELD(struct timing, RECORD, "baseline_ratio", baseline_ratio, "candidate / baseline, from paired times",
          .record = &ratio_record),
    FIELD(struct timing, NOT, "trusted", disturbed,
          "no other process used the device, its clock was not low, and two clocks agree"),
    FIELD_END,
};
static const struct record timing_record = {
    .size = sizeof(struct timing), .optional = true, .fields = timing_fields};

static bool is_timed(const void *record)
{
    return ((const struct config_result *)record)->timing.present;
}

/* ---- The baseline on this configuration ---- */

static bool baseline_timed(const void *record)
{
    return is_timed(record) && ((const struct config_result *)record)->timing.baseline_ms > 0;
}

static bool baseline_judged(const void *record)
{
    return ((const struct config_result *)record)->baseline_judged;
}

static bool baseline_known(const void *record)
{
    return baseline_judged(record) || baseline_timed(record);
}

static void finish_baseline(struct reading *r, const json_t *object, void *record)
{
    ((struct config_result *)record)->baseline_judged = json_read_text(r, object, "outcome") != NULL;
}

static const struct field baseline_fields[] = {
    FIELD(struct config_result, NAME, "outcome", baseline_outcome, NULL, .names = &outcome_names,
          .when = baseline_judged),
    FIELD(struct config_result, NUMBER, "median", timing.baseline_ms, "milliseconds", .when = baseline_timed,
          .write_only = true),
    FIELD_END,
};
static const struct record baseline_record = {.fields = baseline_fields, .finish = finish_baseline};

/* ---- Elements, reference values, reason, pair ---- */

static const struct field elements_fields[] = {
    FIELD(struct config_result, WHOLE, "judged", judged, NULL),
    FIELD(struct config_result, WHOLE, "wrong", wrong, NULL),
    FIELD(struct config_result, WHOLE, "open", open, "in doubt even with MPFR"),
    FIELD(struct config_result, WHOLE, "witnessed", witnessed, "decided by MPFR"),
    FIELD_END,
};
static const struct record elements_record = {.about = "numbers of elements, over all calls",
                                              .fields = elements_fields};

static json_t *write_label(const void *record)
{
    return json_of_text(oracle_quality_label(record));
}

static const struct field oracle_quality_fields[] = {
    FIELD_ITSELF(OWN, "label", "the weakest of both", .write = write_label, .write_only = true,
                 .schema = "{\"enum\": [\"enclosed\", \"fp64\", \"ensemble\"]}"),
    FIELD(struct oracle_quality, EITHER, "value", fp64, "expected values are proved, or computed in fp64",
          .words = {"enclosed", "fp64"}, .lenient = true),
    FIELD(struct oracle_quality, EITHER, "allowed", ensemble,
          "allowed errors are proved, or estimated from runs with injected errors",
          .words = {"bound", "ensemble"}, .lenient = true),
    FIELD(struct oracle_quality, BOOL, "constant", constant,
          "the reference output is the same for all inputs"),
    FIELD(struct oracle_quality, BOOL, "open", open,
          "some elements depend on an ambiguous choice and are not judged"),
    FIELD_END,
};
static const struct record oracle_quality_record = {.about = "quality of an imported task's reference values",
                                                    .size = sizeof(struct oracle_quality),
                                                    .optional = true,
                                                    .fields = oracle_quality_fields};

static bool names_tensor(const void *record)
{
    const struct reason *const reason = record;

    return reason->tensor >= 0 && (reason->cause == CAUSE_GUARD || reason->cause == CAUSE_SLACK ||
                                   reason->cause == CAUSE_GAP || reason->cause == CAUSE_INPUT);
}

static const struct field reason_fields[] = {
    FIELD(struct reason, NAME, "cause", cause, NULL, .names = &cause_names),
    FIELD(struct reason, NAME, "stage", stage, "the call during which it happened", .names = &stage_names),
    FIELD(struct reason, NAME, "side", side, "the side on which an access missed its tensor",
          .names = &side_names),
    FIELD(struct reason, COUNT, "tensor", tensor, "number of the tensor that was missed or changed",
          .when = names_tensor, .high = PROBLEM_MAX_TENSORS - 1, .otherwise = -1),
    FIELD_END,
};
static const struct record reason_record = {.size = sizeof(struct reason), .fields = reason_fields};

static const struct field pair_fields[] = {
    FIELD(struct result_pair, TEXT, "config", line, "the configuration that fails", .filled = true),
    FIELD(struct result_pair, TEXT, "after", after_line, "the one that ran before", .filled = true),
    FIELD(struct result_pair, TEXT, "relation", relation, "a property of both"),
    FIELD_END,
};
static const struct record pair_record = {.definition = "pair",
                                          .about = "a failure that needs two configurations in one process",
                                          .size = sizeof(struct result_pair),
                                          .optional = true,
                                          .fields = pair_fields};

/* ---- Values by axis ---- */

static json_t *write_values(const void *record)
{
    const struct config *const config = &((const struct config_result *)record)->config;
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

static int64_t read_value(struct reading *r, const json_t *value, int axis)
{
    if (r->problem->axes[axis].kind == AXIS_NUMBER) {
        if (!json_is_integer(value))
            json_read_fail(r, "values", value, "a whole number for an axis that is one");
        return json_integer_value(value);
    }
    const int choice =
        json_is_string(value) ? problem_choice_index(r->problem, axis, json_string_value(value)) : -1;
    if (choice < 0)
        json_read_fail(r, "values", value, "a choice of its axis");
    return choice;
}

static void read_values(struct reading *r, const json_t *object, const char *key, void *record)
{
    const json_t *const values = json_read_array(r, object, key);
    struct config *const config = &((struct config_result *)record)->config;

    if (values == NULL || r->problem == NULL)
        return;
    const int axes = problem_axis_count(r->problem);
    if (json_array_size(values) != (size_t)axes) {
        json_read_fail(r, key, values, "a value for each of `axes`");
        return;
    }
    config->problem = r->problem;
    for (int i = 0; i < axes; i++)
        config->value[i] = read_value(r, json_array_get(values, (size_t)i), i);
}

static json_t *write_derived(const void *record)
{
    const struct config_result *const config = record;
    const struct derived *derived = config->config.problem != NULL ? config->config.problem->derived : NULL;
    json_t *array;

    if (!config->derived_known || derived == NULL)
        return json_null();
    array = json_array();
    for (int i = 0; i < RESULT_DERIVED && derived[i].name != NULL; i++)
        json_array_append_new(array, json_integer(config->derived[i]));
    return array;
}

static void read_derived(struct reading *r, const json_t *object, const char *key, void *record)
{
    const json_t *const list = json_read_array(r, object, key), *value;
    struct config_result *const config = record;
    size_t i;

    json_array_foreach(list, i, value)
    {
        if (i >= RESULT_DERIVED || !json_is_integer(value)) {
            json_read_fail(r, key, value, "a whole number for each of the result's `derived`");
            return;
        }
        config->derived[i] = json_integer_value(value);
    }
    config->derived_known = list != NULL;
}

/* ---- What the set's file knows ---- */

static bool calls_known(const void *record)
{
    return ((const struct config_result *)record)->calls > 0;
}

/* ---- The published check ---- */

static json_t *write_published(const void *record)
{
    const struct config_result *const config = record;

    return config->published_judged ? json_boolean(config->published_pass) : json_null();
}

static void read_published(struct reading *r, const json_t *object, const char *key, void *record)
{
    const json_t *const passes = json_object_get(object, key);
    struct config_result *const config = record;

    (void)r; /* a value of another type counts as not judged */
    config->published_judged = json_is_boolean(passes);
    config->published_pass = json_is_true(passes);
}

static const struct field config_fields[] = {
    FIELD(struct config_result, EITHER, "set", unseen, NULL, .words = {"seen", "unseen"}),
    FIELD(struct config_result, TEXT, "config", line, "the configuration, seed included"),
    FIELD(struct config_result, TEXT, "why", why, "why it was drawn"),
    FIELD(struct config_result, NAME, "outcome", outcome, NULL, .names = &outcome_names,
          .otherwise = OUTCOME_SKIPPED, .required = "an outcome"),
    FIELD(struct config_result, TEXT, "detail", detail, "one sentence for people"),
    FIELD(struct config_result, RECORD, "worst", worst,
          "element of the largest error relative to the allowed", .record = &worst_record),
    FIELD(struct config_result, TEXT, "timed_config", timed_line,
          "configuration of a timed call that failed"),
    FIELD(struct config_result, RECORD, "time_ms", timing, NULL, .record = &timing_record),
    FIELD(struct config_result, STRING, "fits", fits, "tightest arithmetic class that explains the errors"),
    FIELD_ITSELF(RECORD, "elements", NULL, .record = &elements_record),
    FIELD(struct config_result, NUMBER, "flops", flops, NULL),
    FIELD(struct config_result, NUMBER, "bytes", bytes, NULL),
    FIELD(struct config_result, NUMBER, "seconds", seconds, NULL),
    FIELD(struct config_result, NUMBER, "attainable_ms", timing.attainable_ms, "lowest time by the ceilings",
          .when = is_timed, .gated = true),
    FIELD(struct config_result, NAME, "bound", timing.bound, "the ceiling that bounds `attainable_ms`",
          .names = &bound_names, .when = is_timed, .gated = true),
    FIELD(struct config_result, NUMBER, "fraction", timing.fraction, "attainable_ms / median",
          .when = is_timed, .gated = true),
    FIELD_ITSELF(OWN, "published", "the published check passes", .write = write_published,
                 .read = read_published, .schema = "{\"type\": [\"boolean\", \"null\"]}"),
    FIELD(struct config_result, RECORD, "oracle", oracle_quality, NULL, .record = &oracle_quality_record),
    FIELD(struct config_result, RECORD, "reason", reason, "what decided the outcome",
          .record = &reason_record),
    FIELD(struct config_result, COUNT, "arithmetic", arithmetic, "index of the class `fits`, tightest first",
          .low = INT32_MIN),
    FIELD_ITSELF(
        OWN, "values", "in the order of the result's `axes`", .write = write_values, .read = read_values,
        .schema = "{\"type\": [\"array\", \"null\"], \"items\": {\"type\": [\"integer\", \"string\"]}}"),
    FIELD(struct config_result, SEED, "seed", config.seed, NULL),
    FIELD_ITSELF(RECORD, "baseline", "the same judge's outcome for the baseline", .record = &baseline_record,
                 .when = baseline_known),
    FIELD(struct config_result, BOOL, "scout", scout, "one of many small ones, judged and not timed"),
    FIELD(struct config_result, BOOL, "directed", directed, "drawn for a condition in the candidate's code"),
    FIELD(struct config_result, RECORD, "pair", pair, NULL, .record = &pair_record),
    FIELD_ITSELF(OWN, "derived", "derived sizes in the order of the result's `derived`",
                 .write = write_derived, .read = read_derived,
                 .schema = "{\"type\": [\"array\", \"null\"], \"items\": {\"type\": \"integer\"}}"),
    FIELD(struct config_result, TEXT, "workload", workload, "its name in the file of its set"),
    FIELD(struct config_result, WHOLE, "calls", calls, "how often a captured program made this call",
          .when = calls_known),
    FIELD(struct config_result, RECORD, "errors", errors, NULL, .record = &errors_record),
    FIELD_END,
};
const struct record config_record = {
    .definition = "configuration", .size = sizeof(struct config_result), .fields = config_fields};
