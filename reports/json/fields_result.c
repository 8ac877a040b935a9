/* Table of the result: the keys of schema 1, in their order. */
#include <stdlib.h>
#include <string.h>

#include "json_fields.h"
#include "json_values.h"
#include "reports/record/published.h"
#include "json_read_internal.h"

static const char *verdict_word(int i)
{
    return verdict_name((enum element_verdict)i);
}

static const char *finding_word(int i)
{
    return finding_name((enum finding_kind)i);
}

static const struct names verdict_names = {"verdict", verdict_word, VERDICT_COUNT};
static const struct names finding_names = {NULL, finding_word, FINDING_COUNT};

/* ---- Intervals ---- */

static const struct field points_fields[] = {
    FIELD(struct interval, NUMBER, "points", value, NULL),
    FIELD(struct interval, NUMBER, "low", low, NULL),
    FIELD(struct interval, NUMBER, "high", high, NULL),
    FIELD_END,
};
static const struct record points_record = {.about = "percentage points with their 95% interval",
                                            .size = sizeof(struct interval),
                                            .optional = true,
                                            .fields = points_fields};

static const struct field tolerance_fields[] = {
    FIELD(struct result_tolerance, NUMBER, "atol", atol, NULL),
    FIELD(struct result_tolerance, NUMBER, "rtol", rtol, NULL),
    FIELD_END,
};
static const struct record tolerance_record = {
    .size = sizeof(struct result_tolerance), .optional = true, .fields = tolerance_fields};

static const struct field finding_fields[] = {
    FIELD(struct finding, NAME, "kind", kind, NULL, .names = &finding_names, .otherwise = FINDING_CEILING),
    FIELD(struct finding, TEXT, "evidence", evidence, NULL),
    FIELD_END,
};
static const struct record finding_record = {.size = sizeof(struct finding), .fields = finding_fields};

static const struct field findings_fields[] = {
    FIELD(struct result, LIST, "findings", finding, NULL, .record = &finding_record,
          .count = offsetof(struct result, finding_count), .at = "findings"),
    FIELD_END,
};
const struct record findings_record = {.fields = findings_fields};

/* ---- The verdict. With --tolerance published it is that check's, and ours is stored beside it. ---- */

struct verdict_keys {
    enum element_verdict verdict, judged;
    bool decides;
    int rejected, accepted;
};

static const struct field published_fields[] = {
    FIELD(struct verdict_keys, NAME, "verdict", verdict, NULL, .names = &verdict_names),
    FIELD(struct verdict_keys, BOOL, "decides", decides, "it decides the exit status"),
    FIELD(struct verdict_keys, NAME, "judged_verdict", judged, "by our own judgement",
          .names = &verdict_names),
    FIELD(struct verdict_keys, COUNT, "rejected_by_us", rejected, "configurations"),
    FIELD(struct verdict_keys, COUNT, "of_them_accepted", accepted, "configurations"),
    FIELD_END,
};
static const struct record published_record = {.about = "the published check's verdict on the same run",
                                               .fields = published_fields};

static json_t *write_published(const void *record)
{
    const struct result *const result = record;
    const struct published_tally tally = published_count(result);
    const struct verdict_keys keys = {result->published_verdict, result->verdict, published_decides(result),
                                      tally.rejected, tally.accepted};

    return json_of_record(&published_record, &keys);
}

static bool has_published(const void *record)
{
    return ((const struct result *)record)->published_judged;
}

static json_t *write_verdict(const void *record)
{
    return json_of_text(verdict_name(result_verdict(record)));
}

static enum element_verdict read_name(struct reading *r, const json_t *object, const char *key, int otherwise)
{
    return (enum element_verdict)json_read_name(r, object, key, verdict_names.name, verdict_names.count,
                                                otherwise);
}

static void read_verdict(struct reading *r, const json_t *object, const char *key, void *record)
{
    const json_t *const published = json_read_object(r, object, "published");
    const enum element_verdict verdict = read_name(r, object, key, VERDICT_INCONCLUSIVE);
    struct result *const result = record;

    result->published_judged = published != NULL;
    result->verdict = read_name(r, published, "judged_verdict", (int)verdict);
    result->published_verdict = read_name(r, published, "verdict", VERDICT_INCONCLUSIVE);
}

/* ---- Computed values ---- */

static json_t *write_schema(const void *record)
{
    (void)record; /* the reader looks at it first */
    return json_integer(SCHEMA_NUMBER);
}

/* True if no timing was disturbed; null: nothing was timed. */
static json_t *write_trusted(const void *record)
{
    const struct result *const result = record;
    bool timed = false, trusted = true;

    for (int i = 0; i < result->result_count; i++) {
        const struct timing *timing = &result->results[i].timing;

        timed = timed || timing->present;
        trusted = trusted && !(timing->present && timing->disturbed);
    }
    return timed ? json_boolean(trusted) : json_null();
}

static json_t *write_sandboxed(const void *record)
{
    return json_boolean(((const struct result *)record)->no_sandbox[0] == '\0');
}

static bool is_partial(const void *record)
{
    return ((const struct result *)record)->partial;
}

static bool is_diagnosed(const void *record)
{
    return ((const struct result *)record)->diagnosis.present;
}

static bool has_coverage(const void *record)
{
    return ((const struct result *)record)->coverage.strength > 0;
}

static bool has_directed(const void *record)
{
    return ((const struct result *)record)->directed_commitment[0] != '\0';
}

static bool has_baseline(const void *record)
{
    return ((const struct result *)record)->baseline.path[0] != '\0';
}

static void finish_result(struct reading *r, const json_t *object, void *record)
{
    struct result *const result = record;

    if (!json_read_flag(r, object, "sandboxed", true) && result->no_sandbox[0] == '\0')
        strcpy(result->no_sandbox, "no reason recorded");
    if (json_read_text(r, object, "tolerance") == NULL) /* written by an earlier version */
        result->published_tolerance =
            json_read_flag(r, json_read_object(r, object, "published"), "decides", false);
    result->result_capacity = result->result_count;
}

static const struct field result_fields[] = {
    FIELD_ITSELF(OWN, "schema", NULL, .write = write_schema, .write_only = true, .schema = "{\"const\": 1}"),
    FIELD_ITSELF(RECORD, "tool", NULL, .record = &tool_record),
    FIELD(struct result, STRING, "problem", problem, NULL),
    FIELD_ITSELF(RECORD, "candidate", NULL, .record = &candidate_record),
    FIELD_ITSELF(RECORD, "device", NULL, .record = &device_record),
    FIELD(struct result, SEED, "seed", seed, NULL),
    FIELD(struct result, TEXT, "commitment", commitment,
          "SHA-256 of the unseen set without its directed configurations"),
    FIELD_ITSELF(OWN, "verdict", "the one that decides the exit status", .write = write_verdict,
                 .read = read_verdict, .names = &verdict_names),
    FIELD_ITSELF(RECORD, NULL, NULL, .record = &sets_record),
    FIELD(struct result, RECORD, "drop", drop, "of the pass rate", .record = &points_record),
    FIELD(struct result, RECORD, "retention", retention, "unseen fraction / seen fraction",
          .record = &ratio_record),
    FIELD(struct result, RECORD, "rule", diagnosis.rule, NULL, .record = &rule_record, .when = is_diagnosed,
          .write_only = true),
    FIELD(struct result, TEXT, "minimal", diagnosis.minimal.line, "the simplest failing configuration",
          .when = is_diagnosed, .write_only = true),
    FIELD_ITSELF(RECORD, NULL, NULL, .record = &findings_record),
    FIELD(struct result, NUMBER, "seconds", seconds, NULL),
    FIELD(struct result, STRING, "effort", effort, NULL),
    FIELD(struct result, STRING, "admitted", admitted, "arithmetic class that the problem admits here"),
    FIELD(struct result, STRING, "fits", fits, "tightest class that explains all errors"),
    FIELD(struct result, BOOL, "downgrade", downgrade, "`fits` is looser than `admitted`"),
    FIELD(struct result, BOOL, "partial", partial, "the run was cut off"),
    FIELD(struct result, TEXT, "partial_reason", partial_reason, NULL, .when = is_partial),
    FIELD(struct result, COUNT, "planned", planned, "configurations of both sets"),
    FIELD(struct result, TEXT, "notes", notes, "remarks and details, one per line"),
    FIELD(struct result, TEXT, "sandbox", sandbox, "how the candidate was isolated"),
    FIELD_ITSELF(OWN, "sandboxed", NULL, .write = write_sandboxed, .write_only = true,
                 .schema = "{\"type\": \"boolean\"}"),
    FIELD(struct result, RECORD, "phase_seconds", phase, NULL, .record = &phase_record),
    FIELD_ITSELF(OWN, "published", NULL, .write = write_published, .write_only = true, .when = has_published,
                 .record = &published_record),
    FIELD_ITSELF(RECORD, "coverage", NULL, .record = &coverage_record, .when = has_coverage),
    FIELD(struct result, RECORD, "branches", branches, NULL, .record = &branches_record),
    FIELD(struct result, RECORD, "diagnosis", diagnosis, NULL, .record = &diagnosis_record,
          .at = "diagnosis"),
    FIELD_ITSELF(OWN, "timing_trusted", "no timing was disturbed; null: nothing was timed",
                 .write = write_trusted, .write_only = true, .schema = "{\"type\": [\"boolean\", \"null\"]}"),
    FIELD(struct result, RECORD, "limits", limits, NULL, .record = &limits_record),
    FIELD(struct result, TEXT, "without", without, "disabled defences, separated by commas"),
    FIELD(struct result, STRING, "problem_word", problem_word, "the word that selects the problem"),
    FIELD_ITSELF(RECORD, NULL, NULL, .record = &words_record),
    FIELD_ITSELF(RECORD, NULL, NULL, .record = &axes_record),
    FIELD(struct result, EITHER, "tolerance", published_tolerance, "the check that decides",
          .words = {"exact", "published"}, .lenient = true),
    FIELD(struct result, BOOL, "unexplained", unexplained, "no arithmetic class explains the errors"),
    FIELD(struct result, COUNT, "planned_seen", planned_seen, NULL),
    FIELD(struct result, COUNT, "planned_scouts", planned_scouts, NULL),
    FIELD(struct result, COUNT, "planned_directed", planned_directed, NULL),
    FIELD(struct result, TEXT, "directed_commitment", directed_commitment,
          "SHA-256 of the directed configurations", .when = has_directed),
    FIELD(struct result, COUNT, "untimed", untimed, "passing configurations that --budget left untimed"),
    FIELD(struct result, TEXT, "no_sandbox", no_sandbox, "why the candidate had the user's rights"),
    FIELD(struct result, BOOL, "forbid_blind", forbid_blind, "loaded libraries could not be observed"),
    FIELD(struct result, TEXT, "forbid_launches", forbid_launches, "the kernels that were launched"),
    FIELD(struct result, RECORD, "company", company, NULL, .record = &company_record),
    FIELD(struct result, RECORD, "baseline", baseline, NULL, .record = &run_baseline_record,
          .when = has_baseline),
    FIELD_ITSELF(RECORD, NULL, NULL, .record = &derived_record),
    FIELD(struct result, TEXT, "remarks", remarks, "the notes that the report shows without -v"),
    FIELD(struct result, TEXT, "started", started, "UTC"),
    FIELD(struct result, TEXT, "command_line", command_line, "shell words after the program's name"),
    FIELD(struct result, RECORD, "own_tolerance", own_tolerance, "the user's tolerance",
          .record = &tolerance_record),
    FIELD(struct result, TEXT, "unseen_given", unseen_given, "the user's file with the unseen set"),
    FIELD(struct result, BOOL, "seen_stands_in", seen_stands_in,
          "the seen set is a smaller substitute of the published one"),
    FIELD(struct result, TEXT, "forbid", forbid, "the libraries that --forbid names"),
    FIELD(struct result, RECORD, "scores", scores, NULL, .record = &scores_record),
    FIELD(struct result, LIST, "results", results, NULL, .record = &config_record,
          .count = offsetof(struct result, result_count), .at = "results"),
    FIELD_END,
};
const struct record result_record = {.about = "What `unseen verify --json` writes. New keys may be added; "
                                              "these keep their meaning. Numbers that are not finite are "
                                              "texts; what does not apply is null.",
                                     .fields = result_fields,
                                     .finish = finish_result};
