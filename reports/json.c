#include "json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "published.h"
#include "rule_text.h"
#include "told.h"
#include "text.h"

/* JSON has no NaN and no infinity. */
static json_t *number(double value)
{
    char buffer[TEXT_NUMBER_SIZE];

    return isfinite(value) ? json_real(value) : json_string(text_number(buffer, value, 17));
}

static json_t *number_if(bool applies, double value)
{
    return applies ? number(value) : json_null();
}

/* A path or a candidate's words may hold any bytes; a report with a few '?' is better than none. */
static json_t *text(const char *value)
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

static json_t *device_json(const struct result *result)
{
    const struct peaks *peaks = &result->peaks;

    return json_pack("{s:o, s:o, s:{s:o, s:o, s:o, s:o, s:o}}", "name", text(result->device), "driver",
                     text(result->driver), "peaks", "bandwidth_gbps", number(peaks->bandwidth_gbps),
                     "measured_gbps", number_if(peaks->measured_gbps > 0, peaks->measured_gbps), "tflops",
                     number(peaks->tflops), "source", text(peaks_source_name(peaks->source)), "launch_ms",
                     number(peaks->launch_ms));
}

static json_t *candidate_json(const struct result *result)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "path", text(result->candidate_path), "sha256",
                     text(result->candidate_sha256), "language", text(result->language), "build_seconds",
                     number(result->build_seconds));
}

static json_t *set_json(const struct set_score *set, bool memory_bound)
{
    const bool timed = set->timed;
    json_t *json = json_pack("{s:i}", "configs", set->configs);

    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (json_object_set_new(json, outcome_name(i), json_integer(set->outcome[i])) != 0) {
            json_decref(json);
            return NULL;
        }
    if (json_object_update_new(
            json,
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "rate", number_if(set->configs > 0, set->rate),
                      memory_bound ? "geomean_gbps" : "geomean_tflops", number_if(timed, set->geomean_rate),
                      "geomean_fraction", number_if(timed, set->geomean_fraction), "fraction_low",
                      number_if(timed, set->fraction_low), "fraction_high",
                      number_if(timed, set->fraction_high), "score", number_if(timed, set->score))) != 0) {
        json_decref(json);
        return NULL;
    }
    return json;
}

static json_t *interval_json(const struct interval *interval, const char *name)
{
    if (!interval->present)
        return json_null();
    return json_pack("{s:o, s:o, s:o}", name, number(interval->value), "low", number(interval->low), "high",
                     number(interval->high));
}

static json_t *findings_json(const struct result *result)
{
    json_t *array = json_array();

    for (int i = 0; i < result->finding_count; i++)
        if (json_array_append_new(array,
                                  json_pack("{s:o, s:o}", "kind", text(finding_name(result->finding[i].kind)),
                                            "evidence", text(result->finding[i].evidence)))) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* `index` is flat, `at` the same by dimension. */
static json_t *worst_json(const struct worst *worst)
{
    json_t *at;

    if (!worst->present)
        return json_null();
    at = json_array();
    for (int i = 0; i < worst->rank && i < WORST_RANK; i++)
        json_array_append_new(at, json_integer(worst->at[i]));
    return json_pack("{s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:b}", "tensor", text(worst->tensor), "index",
                     (json_int_t)worst->index, "at", at, "got", number(worst->got), "want",
                     number(worst->want), "allowed", number(worst->allowed), "error", number(worst->error),
                     "witnessed", worst->witnessed);
}

static json_t *time_json(const struct timing *timing)
{
    if (!timing->present)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:b}", "median",
                     number(timing->median_ms), "low", number(timing->low_ms), "high",
                     number(timing->high_ms), "min", number(timing->min_ms), "p95", number(timing->p95_ms),
                     "samples", timing->samples, "method", text(timing->method), "unmet", text(timing->unmet),
                     "baseline", number_if(timing->baseline_ms > 0, timing->baseline_ms), "trusted",
                     !timing->disturbed);
}

static json_t *told_json(const struct told *told)
{
    if (!told->present)
        return json_null();
    return json_pack("{s:s, s:s, s:s, s:b}", "label", told_label(told), "value",
                     told->fp64 ? "fp64" : "enclosed", "allowed", told->ensemble ? "ensemble" : "bound",
                     "constant", told->constant);
}

static json_t *config_json(const struct config_result *config)
{
    const struct timing *timing = &config->timing;

    return json_pack("{s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:{s:I, s:I, s:I, s:I}, s:o, s:o,"
                     " s:o, s:o, s:o, s:o, s:o}",
                     "set", config->unseen ? "unseen" : "seen", "config", text(config->line), "why",
                     text(config->why), "outcome", outcome_name(config->outcome), "detail",
                     text(config->detail), "worst", worst_json(&config->worst), "timed_config",
                     text(config->timed_line), "time_ms", time_json(timing), "fits", text(config->fits),
                     "elements", "judged", (json_int_t)config->judged, "wrong", (json_int_t)config->wrong,
                     "open", (json_int_t)config->open, "witnessed", (json_int_t)config->witnessed, "flops",
                     number(config->flops), "bytes", number(config->bytes), "attainable_ms",
                     number_if(timing->present, timing->attainable_ms), "bound",
                     text(timing->present ? bound_name(timing->bound) : NULL), "fraction",
                     number_if(timing->present, timing->fraction), "published",
                     config->published_judged ? json_boolean(config->published_pass) : json_null(), "oracle",
                     told_json(&config->told));
}

/* Were all times taken without anybody else on the device? null: none was taken. */
static json_t *trusted_json(const struct result *result)
{
    bool timed = false, trusted = true;

    for (int i = 0; i < result->result_count; i++) {
        const struct timing *timing = &result->results[i].timing;

        timed = timed || timing->present;
        trusted = trusted && !(timing->present && timing->disturbed);
    }
    return timed ? json_boolean(trusted) : json_null();
}

static json_t *results_json(const struct result *result)
{
    json_t *array = json_array();

    for (int i = 0; i < result->result_count; i++)
        if (json_array_append_new(array, config_json(&result->results[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *published_json(const struct result *result)
{
    struct published_tally tally = published_count(result);

    if (!result->published_judged)
        return json_null();
    return json_pack("{s:s, s:b, s:s, s:i, s:i}", "verdict", verdict_name(result->published_verdict),
                     "decides", published_decides(result), "judged_verdict", verdict_name(result->verdict),
                     "rejected_by_us", tally.rejected, "of_them_accepted", tally.accepted);
}

static json_t *phase_json(const struct phase_seconds *phase)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "build", number(phase->build), "draw",
                     number(phase->draw), "fill", number(phase->fill), "run", number(phase->run), "judge",
                     number(phase->judge), "witness", number(phase->witness), "time", number(phase->time));
}

static json_t *unexplained_json(const struct result_rule *rule)
{
    json_t *array = json_array();

    for (int i = 0; i < RESULT_UNEXPLAINED && rule->unexplained[i][0]; i++)
        if (json_array_append_new(array, json_string(rule->unexplained[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *inner_json(const struct result_rule *rule)
{
    if (!rule->inner[0])
        return json_null();
    return json_pack("{s:o, s:i, s:i, s:i, s:i}", "text", text(rule->inner), "fails", rule->inner_fails,
                     "runs", rule->inner_runs, "other_fails", rule->other_fails, "other_runs",
                     rule->other_runs);
}

/* `confirmed`: what fresh runs said on the rule's two sides. */
static json_t *rule_json(const struct diagnosis *d)
{
    const struct result_rule *rule = &d->rule;

    if (!d->present || !rule->present)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:{s:i, s:i, s:i, s:i}, s:s, s:i, s:i, s:o, s:o}", "text",
                     text(rule->text), "precision", number(rule->precision), "recall", number(rule->recall),
                     "confirmed", "fails", rule->fails_inside, "inside", rule->inside, "passes",
                     rule->passes_outside, "outside", rule->outside, "kind", rule_kind_name(rule->kind),
                     "explained", rule->explained, "failures", rule->failures, "inner", inner_json(rule),
                     "unexplained", unexplained_json(rule));
}

static json_t *minimal_json(const struct diagnosis *d)
{
    return text(d->present ? d->minimal.line : NULL);
}

static json_t *map_json(const struct pattern *pattern)
{
    json_t *array = json_array();

    for (int i = 0; i < pattern->rows; i++)
        if (json_array_append_new(array, json_string(pattern->map[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* What `rule` and `minimal` leave out. */
static json_t *diagnosis_json(const struct diagnosis *d)
{
    if (!d->present)
        return json_null();
    return json_pack("{s:s, s:o, s:b, s:i, s:i, s:o, s:o, s:o, s:o, s:b}", "outcome",
                     outcome_name(d->minimal.outcome), "detail", text(d->minimal.detail), "locally_minimal",
                     d->locally_minimal, "shrink_runs", d->shrink_runs, "rule_runs", d->rule.runs, "no_rule",
                     text(d->rule.present ? NULL : d->rule.reason), "pattern",
                     text(d->pattern.present ? d->pattern.text : NULL), "map",
                     d->pattern.present ? map_json(&d->pattern) : json_null(), "seconds", number(d->seconds),
                     "late", d->late);
}

static json_t *coverage_json(const struct result_coverage *c)
{
    if (c->strength == 0)
        return json_null();
    return json_pack("{s:i, s:I, s:I, s:I, s:I}", "strength", c->strength, "covered", (json_int_t)c->covered,
                     "possible", (json_int_t)c->possible, "excluded_by_caps", (json_int_t)c->excluded_by_caps,
                     "excluded_by_contract", (json_int_t)c->excluded_by_contract);
}

/* The keys that design.md names, in its order; NULL when memory is out. */
static json_t *schema_json(const struct result *result)
{
    return json_pack(
        "{s:i, s:{s:o, s:o}, s:o, s:o, s:o, s:I, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o,"
        " s:o, s:o}",
        "schema", 1, "tool", "version", text(result->version), "git", text(result->git), "problem",
        text(result->problem), "candidate", candidate_json(result), "device", device_json(result), "seed",
        (json_int_t)result->seed, "commitment", text(result->commitment), "verdict",
        verdict_name(result_verdict(result)), "seen", set_json(&result->seen, result->memory_bound), "unseen",
        set_json(&result->unseen, result->memory_bound), "drop", interval_json(&result->drop, "points"),
        "retention", interval_json(&result->retention, "ratio"), "rule", rule_json(&result->diagnosis),
        "minimal", minimal_json(&result->diagnosis), "findings", findings_json(result), "seconds",
        number(result->seconds));
}

static json_t *limits_json(const struct limits *limits)
{
    return json_pack("{s:o, s:o, s:i, s:o}", "timeout", number(limits->timeout), "memory",
                     number(limits->memory), "tasks", limits->tasks, "budget",
                     number_if(limits->budget > 0, limits->budget));
}

static json_t *extra_json(const struct result *result)
{
    return json_pack("{s:o, s:o, s:o, s:b, s:b, s:o, s:i, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "effort", text(result->effort), "admitted", text(result->admitted), "fits",
                     text(result->fits), "downgrade", result->downgrade, "partial", result->partial,
                     "partial_reason", text(result->partial ? result->partial_reason : NULL), "planned",
                     result->planned, "notes", text(result->notes), "sandbox", text(result->sandbox),
                     "sandboxed", result->no_sandbox[0] == '\0', "phase_seconds", phase_json(&result->phase),
                     "published", published_json(result), "coverage", coverage_json(&result->coverage),
                     "diagnosis", diagnosis_json(&result->diagnosis), "timing_trusted", trusted_json(result),
                     "limits", limits_json(&result->limits), "without", text(result->without));
}

static char *json_text(const struct result *result)
{
    json_t *json = schema_json(result);
    char *dump = NULL;

    if (json_object_update_new(json, extra_json(result)) == 0 &&
        json_object_set_new(json, "forbid", text(result->forbid[0] ? result->forbid : NULL)) == 0 &&
        json_object_set_new(json, "results", results_json(result)) == 0)
        dump = json_dumps(json, JSON_INDENT(1));
    json_decref(json);
    return dump;
}

int json_write(const char *path, const struct result *result, char *error, size_t error_size)
{
    char *dump = json_text(result);
    size_t length;
    int status;

    if (dump == NULL) {
        snprintf(error, error_size,
                 "%s: cannot write the report: out of memory\n"
                 "---> draw fewer configurations (--unseen N)",
                 path);
        return -1;
    }
    length = strlen(dump);
    dump[length] = '\n'; /* over the terminator: the text is written by its length */
    status = atomic_write(path, dump, length + 1, error, error_size);
    free(dump);
    return status;
}
