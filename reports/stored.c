#include "stored_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

enum { SCHEMA = 1, MOST_BYTES = 1 << 30 };

#define EXPECTED "the JSON result of `unseen verify`"
#define GIVE_ONE "---> give the file that `unseen verify --json FILE` wrote"

static const char *verdict_word(int i)
{
    return verdict_name((enum verdict)i);
}

static const char *finding_word(int i)
{
    return finding_name((enum finding_kind)i);
}

static const char *source_word(int i)
{
    return peaks_source_name((enum peaks_source)i);
}

/* ---- The file ---- */

/* Reads the whole file and appends a NUL. NULL with a message on errors. */
static char *read_all(struct reading *r, size_t *length)
{
    const bool standard = strcmp(r->path, "-") == 0;
    FILE *in = standard ? stdin : fopen(r->path, "re");
    size_t room = 1 << 16;
    char *text = NULL;

    int reason = in == NULL ? errno : 0;

    *length = 0;
    for (size_t got = 1; in != NULL && got > 0 && *length < MOST_BYTES; *length += got) {
        char *const grown = *length + 1 < room && text != NULL ? text : realloc(text, room *= 2);

        if (grown == NULL) {
            free(text);
            text = NULL;
            break;
        }
        text = grown;
        got = fread(text + *length, 1, room - *length - 1, in);
    }
    if (in != NULL && ferror(in))
        reason = errno;
    if (in != NULL && !standard)
        fclose(in);
    if (in != NULL && reason == 0 && text != NULL && *length < MOST_BYTES) {
        text[*length] = '\0';
        return text;
    }
    snprintf(r->error, r->error_size, "%s: cannot read the result: %s\n%s", r->path,
             reason != 0    ? strerror(reason)
             : text == NULL ? "out of memory"
                            : "more than 1 GB, which no result has",
             GIVE_ONE);
    free(text);
    return NULL;
}

/* Is the document a truncated object? The cut may lie inside a word, which a parser cannot tell from a wrong
 * word. */
static bool is_cut_off(const json_error_t *where, const char *text, size_t length)
{
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL)
        length--;
    return text[strspn(text, " \t\r\n")] == '{' &&
           (text[length - 1] != '}' || json_error_code(where) == json_error_premature_end_of_input);
}

static void fail_parsing(struct reading *r, const json_error_t *where, const char *text, size_t length)
{
    if (text[strspn(text, " \t\r\n")] == '\0')
        snprintf(r->error, r->error_size, "%s: it is empty; expected %s\n%s", r->path, EXPECTED, GIVE_ONE);
    else if (is_cut_off(where, text, length))
        snprintf(r->error, r->error_size,
                 "%s:%d: it ends in the middle of an object; expected %s\n"
                 "---> it was cut off (a full disk, a copy that was stopped): copy or write it again",
                 r->path, where->line, EXPECTED);
    else
        snprintf(r->error, r->error_size, "%s:%d: not JSON from column %d on; expected %s\n%s", r->path,
                 where->line, where->column, EXPECTED, GIVE_ONE);
}

/* Is it a result of this tool, with a schema that this code knows? */
static bool check_kind(struct reading *r, const json_t *json)
{
    const json_t *schema = json_object_get(json, "schema");
    const char *version = json_string_value(json_object_get(json_object_get(json, "tool"), "version"));
    char plain[34] = "";

    if (json_is_integer(schema) && json_integer_value(schema) != SCHEMA) {
        if (version != NULL && strlen(version) < sizeof plain - 1 &&
            version[strspn(version, "0123456789.")] == '\0')
            snprintf(plain, sizeof plain, " %s", version);
        snprintf(r->error, r->error_size,
                 "%s: schema %" JSON_INTEGER_FORMAT "; expected schema %d\n"
                 "---> read it with the version of unseen that wrote it%s, or write it again with this one",
                 r->path, json_integer_value(schema), SCHEMA, plain);
        return false;
    }
    if (json_is_integer(schema) && json_is_string(json_object_get(json, "verdict")) &&
        json_is_object(json_object_get(json, "seen")) && json_is_object(json_object_get(json, "unseen")) &&
        json_is_array(json_object_get(json, "results")))
        return true;
    snprintf(r->error, r->error_size, "%s: JSON without `%s`; expected %s\n%s", r->path,
             json_is_integer(schema) ? "verdict`, `seen`, `unseen` and `results" : "schema", EXPECTED,
             GIVE_ONE);
    return false;
}

/* ---- The parts of the document ---- */

static void read_run(struct reading *r, const json_t *json, struct result *result)
{
    const json_t *tool = stored_object(r, json, "tool"), *candidate = stored_object(r, json, "candidate");

    result->version = stored_text(r, tool, "version");
    result->git = stored_text(r, tool, "git");
    result->problem = stored_text(r, json, "problem");
    result->problem_word = stored_text(r, json, "problem_word");
    stored_copy(r, candidate, "path", result->candidate_path, sizeof result->candidate_path);
    stored_copy(r, candidate, "sha256", result->candidate_sha256, sizeof result->candidate_sha256);
    result->language = stored_text(r, candidate, "language");
    result->build_seconds = stored_number(r, candidate, "build_seconds", 0);
    result->seed = (uint64_t)stored_whole(r, json, "seed", INT64_MIN, INT64_MAX, 0);
    stored_copy(r, json, "commitment", result->commitment, sizeof result->commitment);
    result->effort = stored_text(r, json, "effort");
    stored_copy(r, json, "unseen_given", result->unseen_given, sizeof result->unseen_given);
    result->seen_stands_in = stored_flag(r, json, "seen_stands_in", false);
    result->admitted = stored_text(r, json, "admitted");
    result->fits = stored_text(r, json, "fits");
    result->unexplained = stored_flag(r, json, "unexplained", false);
    result->downgrade = stored_flag(r, json, "downgrade", false);
    result->seconds = stored_number(r, json, "seconds", 0);
    result->partial = stored_flag(r, json, "partial", false);
    stored_copy(r, json, "partial_reason", result->partial_reason, sizeof result->partial_reason);
    stored_copy(r, json, "notes", result->notes, sizeof result->notes);
    stored_copy(r, json, "remarks", result->remarks, sizeof result->remarks);
    stored_copy(r, json, "started", result->started, sizeof result->started);
    stored_copy(r, json, "command_line", result->command_line, sizeof result->command_line);
    stored_copy(r, json, "forbid", result->forbid, sizeof result->forbid);
    result->forbid_blind = stored_flag(r, json, "forbid_blind", false);
    stored_copy(r, json, "forbid_launches", result->forbid_launches, sizeof result->forbid_launches);
    stored_copy(r, json, "sandbox", result->sandbox, sizeof result->sandbox);
    stored_copy(r, json, "no_sandbox", result->no_sandbox, sizeof result->no_sandbox);
    if (!stored_flag(r, json, "sandboxed", true) && result->no_sandbox[0] == '\0')
        strcpy(result->no_sandbox, "no reason recorded");
    stored_copy(r, json, "without", result->without, sizeof result->without);
    result->planned = stored_count(r, json, "planned");
    result->planned_seen = stored_count(r, json, "planned_seen");
    result->planned_scouts = stored_count(r, json, "planned_scouts");
    result->untimed = stored_count(r, json, "untimed");
}

static void read_device(struct reading *r, const json_t *json, struct result *result)
{
    const json_t *device = stored_object(r, json, "device"), *peaks = stored_object(r, device, "peaks");
    const json_t *calibrated = stored_object(r, peaks, "calibrated");
    const json_t *limits = stored_object(r, json, "limits"), *company = stored_object(r, json, "company");
    const json_t *baseline = stored_object(r, json, "baseline");
    const json_t *phase = stored_object(r, json, "phase_seconds");

    stored_copy(r, device, "name", result->device, sizeof result->device);
    stored_copy(r, device, "driver", result->driver, sizeof result->driver);
    result->peaks = (struct peaks){
        .bandwidth_gbps = stored_number(r, peaks, "bandwidth_gbps", 0),
        .measured_gbps = stored_number(r, peaks, "measured_gbps", 0),
        .tflops = stored_number(r, peaks, "tflops", 0),
        .source = (enum peaks_source)stored_name(r, peaks, "source", source_word, PEAKS_COUNT, PEAKS_UNKNOWN),
        .launch_ms = stored_number(r, peaks, "launch_ms", 0),
        .incomparable = !stored_flag(r, peaks, "comparable", true)};
    stored_copy(r, calibrated, "date", result->peaks.calibrated, sizeof result->peaks.calibrated);
    stored_copy(r, calibrated, "sha256", result->peaks.sha256, sizeof result->peaks.sha256);
    stored_copy(r, peaks, "not_comparable", result->peaks.why, sizeof result->peaks.why);
    stored_copy(r, baseline, "path", result->baseline.path, sizeof result->baseline.path);
    stored_copy(r, baseline, "sha256", result->baseline.sha256, sizeof result->baseline.sha256);
    result->baseline.own = stored_flag(r, baseline, "own", false);
    result->limits = (struct limits){.timeout = stored_number(r, limits, "timeout", 0),
                                     .memory = stored_number(r, limits, "memory", 0),
                                     .tasks = stored_count(r, limits, "tasks"),
                                     .budget = stored_number(r, limits, "budget", 0)};
    result->company = (struct company){.shared = stored_flag(r, company, "shared", false),
                                       .disbelieved = stored_flag(r, company, "disbelieved", false),
                                       .most = stored_count(r, company, "most"),
                                       .unproved = stored_count(r, company, "unproved"),
                                       .least_mhz = stored_number(r, company, "least_mhz", 0)};
    stored_copy(r, company, "held_back", result->company.held_back, sizeof result->company.held_back);
    result->phase = (struct phase_seconds){.open = stored_number(r, phase, "open", 0),
                                           .baseline = stored_number(r, phase, "baseline", 0),
                                           .calibrate = stored_number(r, phase, "calibrate", 0),
                                           .explain = stored_number(r, phase, "explain", 0),
                                           .other = stored_number(r, phase, "other", 0),
                                           .build = stored_number(r, phase, "build", 0),
                                           .draw = stored_number(r, phase, "draw", 0),
                                           .start = stored_number(r, phase, "start", 0),
                                           .fill = stored_number(r, phase, "fill", 0),
                                           .run = stored_number(r, phase, "run", 0),
                                           .judge = stored_number(r, phase, "judge", 0),
                                           .witness = stored_number(r, phase, "witness", 0),
                                           .time = stored_number(r, phase, "time", 0)};
}

static void read_set(struct reading *r, const json_t *json, const char *name, struct result *result,
                     struct set_score *set)
{
    const json_t *object = stored_object(r, json, name);
    const bool memory_bound = json_object_get(object, "geomean_gbps") != NULL;
    const char *const rate = memory_bound ? "geomean_gbps" : "geomean_tflops";

    *set = (struct set_score){.configs = stored_count(r, object, "configs"),
                              .rate = stored_number(r, object, "rate", 0),
                              .timed = json_is_number(json_object_get(object, "geomean_fraction")),
                              .geomean_rate = stored_number(r, object, rate, 0),
                              .geomean_fraction = stored_number(r, object, "geomean_fraction", 0),
                              .fraction_low = stored_number(r, object, "fraction_low", 0),
                              .fraction_high = stored_number(r, object, "fraction_high", 0)};
    /* null: the score has no number */
    set->score = stored_number(r, object, "score", set->rate * set->geomean_fraction);
    for (int i = 0; i < OUTCOME_COUNT; i++)
        set->outcome[i] = stored_count(r, object, outcome_name((enum outcome)i));
    result->memory_bound = memory_bound;
}

static struct interval read_interval(struct reading *r, const json_t *json, const char *key,
                                     const char *value)
{
    const json_t *object = stored_object(r, json, key);

    return (struct interval){object != NULL, stored_number(r, object, value, 0),
                             stored_number(r, object, "low", 0), stored_number(r, object, "high", 0)};
}

/* With --tolerance published, `verdict` is that check's verdict, and ours is stored beside it. */
static void read_verdict(struct reading *r, const json_t *json, struct result *result)
{
    const json_t *published = stored_object(r, json, "published");
    const int verdict = stored_name(r, json, "verdict", verdict_word, VERDICT_COUNT, VERDICT_INCONCLUSIVE);
    const char *tolerance = stored_text(r, json, "tolerance");
    const json_t *own = stored_object(r, json, "own_tolerance");

    result->own_tolerance.present = own != NULL;
    result->own_tolerance.atol = stored_number(r, own, "atol", 0);
    result->own_tolerance.rtol = stored_number(r, own, "rtol", 0);
    result->published_judged = published != NULL;
    result->verdict =
        (enum verdict)stored_name(r, published, "judged_verdict", verdict_word, VERDICT_COUNT, verdict);
    result->published_verdict =
        (enum verdict)stored_name(r, published, "verdict", verdict_word, VERDICT_COUNT, VERDICT_INCONCLUSIVE);
    result->published_tolerance =
        tolerance != NULL ? strcmp(tolerance, "published") == 0 : stored_flag(r, published, "decides", false);
}

static void read_pattern(struct reading *r, const json_t *json, struct pattern *pattern)
{
    const json_t *map = stored_array(r, json, "map"), *row;
    size_t i;

    stored_copy(r, json, "pattern", pattern->text, sizeof pattern->text);
    pattern->present = pattern->text[0] != '\0' || map != NULL;
    json_array_foreach(map, i, row)
    {
        if (i >= PATTERN_ROWS || !json_is_string(row) || strlen(json_string_value(row)) > PATTERN_COLUMNS) {
            stored_fail(r, "map", row, "at most 8 rows of at most 48 characters");
            return;
        }
        strcpy(pattern->map[i], json_string_value(row));
        pattern->rows = (int)i + 1;
    }
}

static void read_diagnosis(struct reading *r, const json_t *json, struct diagnosis *d)
{
    const json_t *object = stored_object(r, json, "diagnosis"),
                 *minimal = stored_object(r, object, "minimal");

    if (object == NULL)
        return;
    d->present = true;
    snprintf(r->at, sizeof r->at, "diagnosis.minimal.");
    if (minimal != NULL) {
        stored_config(r, minimal, &d->minimal);
    } else { /* written by an earlier version with fewer details */
        d->minimal = (struct config_result){.unseen = true, .reason.tensor = -1};
        d->minimal.outcome = (enum outcome)stored_name(r, object, "outcome", stored_outcome_word,
                                                       OUTCOME_COUNT, OUTCOME_WRONG);
        stored_copy(r, json, "minimal", d->minimal.line, sizeof d->minimal.line);
        stored_copy(r, object, "detail", d->minimal.detail, sizeof d->minimal.detail);
    }
    snprintf(r->at, sizeof r->at, "diagnosis.");
    d->locally_minimal = stored_flag(r, object, "locally_minimal", false);
    d->shrink_runs = stored_count(r, object, "shrink_runs");
    d->seconds = stored_number(r, object, "seconds", 0);
    d->late = stored_flag(r, object, "late", false);
    stored_copy(r, object, "calls", d->calls, sizeof d->calls);
    read_pattern(r, object, &d->pattern);
    stored_rule(r, json, object, &d->rule);
    stored_kinds(r, object, d);
    stored_content(r, object, &d->content);
    r->at[0] = '\0';
}

static void read_coverage(struct reading *r, const json_t *json, const char *key, struct result_coverage *c)
{
    const json_t *object = stored_object(r, json, key);

    *c = (struct result_coverage){
        .strength = stored_count(r, object, "strength"),
        .covered = stored_whole(r, object, "covered", 0, INT64_MAX, 0),
        .possible = stored_whole(r, object, "possible", 0, INT64_MAX, 0),
        .excluded_by_caps = stored_whole(r, object, "excluded_by_caps", 0, INT64_MAX, 0),
        .excluded_by_contract = stored_whole(r, object, "excluded_by_contract", 0, INT64_MAX, 0)};
}

/* ---- Lists; false: out of memory ---- */

static bool read_findings(struct reading *r, const json_t *json, struct result *result)
{
    const json_t *list = stored_array(r, json, "findings"), *finding;
    size_t i;

    result->finding = calloc(json_array_size(list) + 1, sizeof *result->finding);
    if (result->finding == NULL)
        return false;
    json_array_foreach(list, i, finding)
    {
        snprintf(r->at, sizeof r->at, "findings[%zu].", i);
        result->finding[i].kind =
            (enum finding_kind)stored_name(r, finding, "kind", finding_word, FINDING_COUNT, FINDING_CEILING);
        stored_copy(r, finding, "evidence", result->finding[i].evidence, sizeof result->finding[i].evidence);
    }
    result->finding_count = (int)json_array_size(list);
    r->at[0] = '\0';
    return true;
}

static bool read_results(struct reading *r, const json_t *json, struct result *result)
{
    const json_t *list = stored_array(r, json, "results"), *config;
    size_t i;

    result->results = calloc(json_array_size(list) + 1, sizeof *result->results);
    if (result->results == NULL)
        return false;
    json_array_foreach(list, i, config)
    {
        snprintf(r->at, sizeof r->at, "results[%zu].", i);
        stored_config(r, config, &result->results[i]);
    }
    result->result_count = result->result_capacity = (int)json_array_size(list);
    r->at[0] = '\0';
    return true;
}

static enum stored_status read_document(struct reading *r, const json_t *json, struct stored *stored)
{
    struct result *result = &stored->result;

    read_run(r, json, result);
    stored_axes(r, json, result->problem);
    stored->problem = r->problem;
    read_device(r, json, result);
    read_verdict(r, json, result);
    read_set(r, json, "seen", result, &result->seen);
    read_set(r, json, "unseen", result, &result->unseen);
    result->drop = read_interval(r, json, "drop", "points");
    result->retention = read_interval(r, json, "retention", "ratio");
    read_diagnosis(r, json, &result->diagnosis);
    read_coverage(r, json, "coverage", &result->coverage);
    read_coverage(r, stored_object(r, json, "coverage"), "list_pairs", &result->list_pairs);
    read_coverage(r, stored_object(r, json, "coverage"), "list_classes", &result->list_classes);
    stored_scores(r, json, result);
    const bool axes = r->problem != NULL || json_array_size(json_object_get(json, "axes")) == 0 || r->failed;
    if (axes && stored_words(r, json, stored) && read_findings(r, json, result) &&
        read_results(r, json, result))
        return r->failed ? STORED_INPUT : STORED_OK;
    snprintf(r->error, r->error_size, "%s: cannot read the result: out of memory\n---> close other programs",
             r->path);
    return STORED_ENVIRONMENT;
}

enum stored_status stored_read(const char *path, struct stored *stored, char *error, size_t error_size)
{
    struct reading r = {.path = path, .error = error, .error_size = error_size};
    enum stored_status status = STORED_INPUT;
    json_error_t where;
    size_t length;
    char *text;

    *stored = (struct stored){0};
    text = read_all(&r, &length);
    if (text == NULL)
        return STORED_INPUT;
    json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    if (json == NULL)
        fail_parsing(&r, &where, text, length);
    free(text);
    stored->document = json;
    if (json != NULL && check_kind(&r, json))
        status = read_document(&r, json, stored);
    if (status != STORED_OK)
        stored_free(stored);
    return status;
}

void stored_free(struct stored *stored)
{
    free(stored->result.results);
    free(stored->result.finding);
    free(stored->problem);
    free(stored->words);
    json_decref(stored->document);
    *stored = (struct stored){0};
}
