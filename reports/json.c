#include "json.h"

#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "json_internal.h"
#include "published.h"
#include "scores.h"

static json_t *text_if(const char *text)
{
    return json_of_text(*text ? text : NULL);
}

static json_t *calibrated_json(const struct peaks *peaks)
{
    if (peaks->calibrated[0] == '\0')
        return json_null();
    return json_pack("{s:o, s:o}", "date", json_of_text(peaks->calibrated), "sha256", text_if(peaks->sha256));
}

static json_t *device_json(const struct result *result)
{
    const struct peaks *peaks = &result->peaks;

    return json_pack("{s:o, s:o, s:{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}}", "name",
                     json_of_text(result->device), "driver", json_of_text(result->driver), "peaks",
                     "bandwidth_gbps", json_of_number(peaks->bandwidth_gbps), "measured_gbps",
                     json_of_number_if(peaks->measured_gbps > 0, peaks->measured_gbps), "tflops",
                     json_of_number(peaks->tflops), "source", json_of_text(peaks_source_name(peaks->source)),
                     "launch_ms", json_of_number(peaks->launch_ms), "calibrated", calibrated_json(peaks),
                     "comparable", !peaks->incomparable, "not_comparable", text_if(peaks->why));
}

static json_t *candidate_json(const struct result *result)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "path", json_of_text(result->candidate_path), "sha256",
                     json_of_text(result->candidate_sha256), "language", json_of_text(result->language),
                     "build_seconds", json_of_number(result->build_seconds));
}

/* `open`: the score has no number (scores.h). */
static json_t *set_json(const struct set_score *set, bool memory_bound, bool open)
{
    const bool timed = set->timed;
    json_t *json = json_pack("{s:i}", "configs", set->configs);

    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (json_object_set_new(json, outcome_name(i), json_integer(set->outcome[i])) != 0) {
            json_decref(json);
            return NULL;
        }
    if (json_object_update_new(json,
                               json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "rate",
                                         json_of_number_if(set->configs > 0, set->rate),
                                         memory_bound ? "geomean_gbps" : "geomean_tflops",
                                         json_of_number_if(timed, set->geomean_rate), "geomean_fraction",
                                         json_of_number_if(timed, set->geomean_fraction), "fraction_low",
                                         json_of_number_if(timed, set->fraction_low), "fraction_high",
                                         json_of_number_if(timed, set->fraction_high), "score",
                                         json_of_number_if(timed && !open, set->score))) != 0) {
        json_decref(json);
        return NULL;
    }
    return json;
}

static json_t *interval_json(const struct interval *interval, const char *name)
{
    if (!interval->present)
        return json_null();
    return json_pack("{s:o, s:o, s:o}", name, json_of_number(interval->value), "low",
                     json_of_number(interval->low), "high", json_of_number(interval->high));
}

static json_t *findings_json(const struct result *result)
{
    json_t *array = json_array();

    for (int i = 0; i < result->finding_count; i++)
        if (json_array_append_new(array, json_pack("{s:o, s:o}", "kind",
                                                   json_of_text(finding_name(result->finding[i].kind)),
                                                   "evidence", json_of_text(result->finding[i].evidence)))) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* True if no timing was disturbed; null: nothing was timed. */
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
        if (json_array_append_new(array, json_of_config(&result->results[i])) != 0) {
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

static json_t *own_json(const struct result *result)
{
    if (!result->own_tolerance.present)
        return json_null();
    return json_pack("{s:o, s:o}", "atol", json_of_number(result->own_tolerance.atol), "rtol",
                     json_of_number(result->own_tolerance.rtol));
}

static json_t *phase_json(const struct phase_seconds *p)
{
    const struct {
        const char *name;
        double seconds;
    } phase[] = {{"open", p->open},         {"build", p->build},         {"draw", p->draw},
                 {"start", p->start},       {"fill", p->fill},           {"run", p->run},
                 {"judge", p->judge},       {"witness", p->witness},     {"time", p->time},
                 {"baseline", p->baseline}, {"calibrate", p->calibrate}, {"explain", p->explain},
                 {"other", p->other}};
    json_t *json = json_object();

    for (size_t i = 0; i < sizeof phase / sizeof phase[0]; i++)
        if (json_object_set_new(json, phase[i].name, json_of_number(phase[i].seconds)) != 0) {
            json_decref(json);
            return NULL;
        }
    return json;
}

static json_t *minimal_json(const struct diagnosis *d)
{
    return json_of_text(d->present ? d->minimal.line : NULL);
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

/* Parts of a diagnosis that `rule` and `minimal` lack. Its own `minimal` is the complete configuration
 * record. */
static json_t *diagnosis_json(const struct diagnosis *d)
{
    if (!d->present)
        return json_null();
    return json_pack("{s:s, s:o, s:b, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "outcome",
                     outcome_name(d->minimal.outcome), "detail", json_of_text(d->minimal.detail),
                     "locally_minimal", d->locally_minimal, "shrink_runs", d->shrink_runs, "rule_runs",
                     d->rule.runs, "no_rule", json_of_text(d->rule.present ? NULL : d->rule.reason), "kinds",
                     json_of_kinds(d), "calls", json_of_text(d->calls[0] ? d->calls : NULL), "pattern",
                     json_of_text(d->pattern.present ? d->pattern.text : NULL), "map",
                     d->pattern.present ? map_json(&d->pattern) : json_null(), "seconds",
                     json_of_number(d->seconds), "late", d->late, "content", json_of_content(d), "minimal",
                     json_of_config(&d->minimal));
}

static json_t *coverage_json(const struct result_coverage *c)
{
    if (c->strength == 0)
        return json_null();
    return json_pack("{s:i, s:I, s:I, s:I, s:I}", "strength", c->strength, "covered", (json_int_t)c->covered,
                     "possible", (json_int_t)c->possible, "excluded_by_caps", (json_int_t)c->excluded_by_caps,
                     "excluded_by_contract", (json_int_t)c->excluded_by_contract);
}

/* Coverage of the set, and separately of its choices and list values. */
static json_t *coverages_json(const struct result *result)
{
    json_t *const coverage = coverage_json(&result->coverage);

    if (json_is_object(coverage) &&
        (json_object_set_new(coverage, "list_pairs", coverage_json(&result->list_pairs)) != 0 ||
         json_object_set_new(coverage, "list_classes", coverage_json(&result->list_classes)) != 0)) {
        json_decref(coverage);
        return NULL;
    }
    return coverage;
}

/* The keys of schema 1, in their order; NULL: out of memory. */
static json_t *schema_json(const struct result *result)
{
    return json_pack(
        "{s:i, s:{s:o, s:o}, s:o, s:o, s:o, s:I, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o,"
        " s:o, s:o}",
        "schema", 1, "tool", "version", json_of_text(result->version), "git", json_of_text(result->git),
        "problem", json_of_text(result->problem), "candidate", candidate_json(result), "device",
        device_json(result), "seed", (json_int_t)result->seed, "commitment", json_of_text(result->commitment),
        "verdict", verdict_name(result_verdict(result)), "seen",
        set_json(&result->seen, result->memory_bound, score_open(result, false) != NULL), "unseen",
        set_json(&result->unseen, result->memory_bound, score_open(result, true) != NULL), "drop",
        interval_json(&result->drop, "points"), "retention", interval_json(&result->retention, "ratio"),
        "rule", json_of_rule(&result->diagnosis), "minimal", minimal_json(&result->diagnosis), "findings",
        findings_json(result), "seconds", json_of_number(result->seconds));
}

static json_t *limits_json(const struct limits *limits)
{
    return json_pack("{s:o, s:o, s:i, s:o}", "timeout", json_of_number(limits->timeout), "memory",
                     json_of_number(limits->memory), "tasks", limits->tasks, "budget",
                     json_of_number_if(limits->budget > 0, limits->budget));
}

static json_t *extra_json(const struct result *result)
{
    return json_pack(
        "{s:o, s:o, s:o, s:b, s:b, s:o, s:i, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "effort",
        json_of_text(result->effort), "admitted", json_of_text(result->admitted), "fits",
        json_of_text(result->fits), "downgrade", result->downgrade, "partial", result->partial,
        "partial_reason", json_of_text(result->partial ? result->partial_reason : NULL), "planned",
        result->planned, "notes", json_of_text(result->notes), "sandbox", json_of_text(result->sandbox),
        "sandboxed", result->no_sandbox[0] == '\0', "phase_seconds", phase_json(&result->phase), "published",
        published_json(result), "coverage", coverages_json(result), "diagnosis",
        diagnosis_json(&result->diagnosis), "timing_trusted", trusted_json(result), "limits",
        limits_json(&result->limits), "without", json_of_text(result->without));
}

static json_t *company_json(const struct company *company)
{
    return json_pack("{s:b, s:b, s:i, s:i, s:o, s:o}", "shared", company->shared, "disbelieved",
                     company->disbelieved, "most", company->most, "unproved", company->unproved, "least_mhz",
                     company->least_mhz > 0 ? json_real(company->least_mhz) : json_null(), "held_back",
                     json_of_text(*company->held_back ? company->held_back : NULL));
}

static json_t *words_json(const char *const *word)
{
    json_t *array = json_array();

    for (; word != NULL && *word != NULL; word++)
        if (json_array_append_new(array, **word ? json_of_text(*word) : json_string("")) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *baseline_json(const struct result_baseline *baseline)
{
    if (baseline->path[0] == '\0')
        return json_null();
    return json_pack("{s:o, s:o, s:b}", "path", json_of_text(baseline->path), "sha256",
                     json_of_text(baseline->sha256), "own", baseline->own);
}

/* Further keys that the reader of stored results needs. */
static json_t *stored_json(const struct result *result)
{
    return json_pack("{s:o, s:o, s:o, s:s, s:b, s:i, s:i, s:i, s:o, s:b, s:o, s:o}", "problem_word",
                     json_of_text(result->problem_word), "check_options", words_json(result->check_options),
                     "axes", json_of_axes(result), "tolerance",
                     result->published_tolerance ? "published" : "exact", "unexplained", result->unexplained,
                     "planned_seen", result->planned_seen, "planned_scouts", result->planned_scouts,
                     "untimed", result->untimed, "no_sandbox", json_of_text(result->no_sandbox),
                     "forbid_blind", result->forbid_blind, "forbid_launches",
                     text_if(result->forbid_launches), "company", company_json(&result->company));
}

char *json_dump(const struct result *result)
{
    json_t *json = schema_json(result);
    char *dump = NULL;

    if (json_object_update_new(json, extra_json(result)) == 0 &&
        json_object_update_new(json, stored_json(result)) == 0 &&
        json_object_set_new(json, "baseline", baseline_json(&result->baseline)) == 0 &&
        json_object_set_new(json, "derived", json_of_derived(result)) == 0 &&
        json_object_set_new(json, "remarks", json_of_text(result->remarks)) == 0 &&
        json_object_set_new(json, "started", json_of_text(result->started)) == 0 &&
        json_object_set_new(json, "command_line", json_of_text(result->command_line)) == 0 &&
        json_object_set_new(json, "own_tolerance", own_json(result)) == 0 &&
        json_object_set_new(json, "unseen_given", json_of_text(result->unseen_given)) == 0 &&
        json_object_set_new(json, "seen_stands_in", json_boolean(result->seen_stands_in)) == 0 &&
        json_object_set_new(json, "forbid", json_of_text(result->forbid[0] ? result->forbid : NULL)) == 0 &&
        json_object_set_new(json, "scores", scores_json(result)) == 0 &&
        json_object_set_new(json, "results", results_json(result)) == 0)
        dump = json_dumps(json, JSON_INDENT(1));
    json_decref(json);
    return dump;
}

/* Writes the text and frees it. */
static int write_dump(const char *path, char *dump, char *error, size_t error_size)
{
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

int json_write(const char *path, const struct result *result, char *error, size_t error_size)
{
    return write_dump(path, json_dump(result), error, error_size);
}

/* ---- One configuration ---- */

static json_t *shrunk_json(const struct result *run)
{
    const struct diagnosis *d = &run->diagnosis;

    return json_pack("{s:o, s:o, s:b, s:i, s:o, s:o}", "from", json_of_text(run->results[0].line), "minimal",
                     json_of_config(&d->minimal), "locally_minimal", d->locally_minimal, "runs",
                     d->shrink_runs, "pattern", json_of_text(d->pattern.present ? d->pattern.text : NULL),
                     "map", d->pattern.present ? map_json(&d->pattern) : json_null());
}

int json_write_one(const char *path, const struct result *run, bool passes, char *error, size_t error_size)
{
    const bool shrunk = run->diagnosis.present;
    json_t *json = json_pack(
        "{s:i, s:s, s:{s:o, s:o}, s:o, s:o, s:{s:o, s:o}, s:s, s:b, s:o}", "schema", 1, "command",
        shrunk ? "shrink" : "check", "tool", "version", json_of_text(run->version), "git",
        json_of_text(run->git), "problem", json_of_text(run->problem), "candidate", candidate_json(run),
        "device", "name", json_of_text(run->device), "driver", json_of_text(run->driver), "tolerance",
        run->published_tolerance ? "published" : "exact", "passes", passes, "findings", findings_json(run));
    const int failed = shrunk ? json_object_update_new(json, shrunk_json(run))
                              : json_object_set_new(json, "result", json_of_config(&run->results[0]));
    char *dump = failed == 0 ? json_dumps(json, JSON_INDENT(1)) : NULL;

    json_decref(json);
    return write_dump(path, dump, error, error_size);
}
