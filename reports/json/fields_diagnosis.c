/* Tables of a diagnosis: the rule, the kinds of failures, the input values, the smallest failure. */
#include <string.h>

#include "reports/record/content_text.h"
#include "json_fields.h"
#include "json_values.h"
#include "reports/record/rule_text.h"
#include "json_read_internal.h"

static const char *rule_word(int i)
{
    return rule_kind_name((enum rule_kind)i);
}

static const char *content_word(int i)
{
    return content_kind_name((enum result_content_kind)i);
}

static const struct names rule_names = {NULL, rule_word, RULE_KINDS};
static const struct names content_names = {NULL, content_word, RESULT_CONTENT_KINDS};

/* ---- The rule ---- */

static const struct field confirmed_fields[] = {
    FIELD(struct rule, COUNT, "fails", fails_inside, NULL),
    FIELD(struct rule, COUNT, "inside", inside, "where the rule predicts a failure"),
    FIELD(struct rule, COUNT, "passes", passes_outside, NULL),
    FIELD(struct rule, COUNT, "outside", outside, "where the rule predicts a pass"),
    FIELD_END,
};
static const struct record confirmed_record = {.about = "fresh runs on both sides of the rule",
                                               .fields = confirmed_fields};

static bool has_inner(const void *record)
{
    return ((const struct rule *)record)->inner[0] != '\0';
}

static const struct field inner_fields[] = {
    FIELD(struct rule, TEXT, "text", inner, NULL, .filled = true),
    FIELD(struct rule, COUNT, "fails", inner_fails, NULL),
    FIELD(struct rule, COUNT, "runs", inner_runs, NULL),
    FIELD(struct rule, COUNT, "other_fails", other_fails, NULL),
    FIELD(struct rule, COUNT, "other_runs", other_runs, NULL),
    FIELD_END,
};
static const struct record inner_record = {
    .about = "a further condition under which it fails more often, and all runs inside the rule",
    .fields = inner_fields};

static const struct field rule_fields[] = {
    FIELD(struct rule, TEXT, "text", text, "a condition on configurations"),
    FIELD(struct rule, BOOL, "always", always, "it fails for every configuration"),
    FIELD(struct rule, NUMBER, "precision", precision, "over all runs"),
    FIELD(struct rule, NUMBER, "recall", recall, "over all runs"),
    FIELD_ITSELF(RECORD, "confirmed", NULL, .record = &confirmed_record),
    FIELD(struct rule, NAME, "kind", kind, "confirmed on both sides of the condition, or on one",
          .names = &rule_names),
    FIELD(struct rule, COUNT, "explained", explained, "failures inside the rule"),
    FIELD(struct rule, COUNT, "failures", failures, "all failures"),
    FIELD_ITSELF(RECORD, "inner", NULL, .record = &inner_record, .when = has_inner),
    FIELD(struct rule, LINES, "unexplained", unexplained, "a partial rule's first failures outside it",
          .most = RULE_UNEXPLAINED, .limits = "at most 3 configuration lines"),
    FIELD(struct rule, TEXT, "limit", limit, "the device limit that a threshold of the rule equals"),
    FIELD(struct rule, TEXT, "code", code, "where its terms stand in the candidate's code"),
    FIELD_END,
};
const struct record rule_record = {.definition = "rule",
                                   .about = "the condition under which it fails",
                                   .size = sizeof(struct rule),
                                   .optional = true,
                                   .fields = rule_fields};

/* ---- Kinds of failures ---- */

static bool kind_has_no_rule(const void *record)
{
    return !((const struct result_kind *)record)->rule.present;
}

static const struct field kind_fields[] = {
    FIELD(struct result_kind, NAME, "outcome", outcome, NULL, .names = &outcome_names,
          .otherwise = OUTCOME_WRONG),
    FIELD(struct result_kind, TEXT, "words", words, "the Python exception that identifies the kind"),
    FIELD(struct result_kind, COUNT, "failures", count, "of this kind, before the search for its rule"),
    FIELD(struct result_kind, TEXT, "config", line, "the failure with least work"),
    FIELD(struct result_kind, RECORD, "rule", rule, NULL, .record = &rule_record),
    FIELD(struct result_kind, TEXT, "no_rule", rule.reason, "why no rule was found",
          .when = kind_has_no_rule),
    FIELD(struct result_kind, COUNT, "rule_runs", rule.runs, NULL),
    FIELD_END,
};
static const struct record kind_record = {.size = sizeof(struct result_kind), .fields = kind_fields};

/* ---- Input values ---- */

static const struct field item_fields[] = {
    FIELD(struct result_item, TEXT, "place", place, "a tensor with an index", .filled = true),
    FIELD(struct result_item, NUMBER, "failing", failing, NULL),
    FIELD(struct result_item, NUMBER, "passing", passing, NULL),
    FIELD_END,
};
static const struct record item_record = {.size = sizeof(struct result_item), .fields = item_fields};

static const struct field content_fields[] = {
    FIELD(struct result_content, NAME, "kind", kind, NULL, .names = &content_names),
    FIELD(struct result_content, TEXT, "config", line, "the failing configuration", .filled = true),
    FIELD(struct result_content, TEXT, "passing", passing, "the draw whose values pass there",
          .filled = true),
    FIELD(struct result_content, TEXT, "places", places, NULL),
    FIELD(struct result_content, WHOLE, "elements", elements, "number of elements that cause it"),
    FIELD(struct result_content, WHOLE, "of", of, "number of elements that were searched"),
    FIELD(struct result_content, LIST, "items", item, "each element, if they are few", .record = &item_record,
          .count = offsetof(struct result_content, items), .most = RESULT_CONTENT_ITEMS, .objects = true,
          .limits = "at most 4 elements"),
    FIELD(struct result_content, TEXT, "special", special, "a property that distinguishes these values"),
    FIELD(struct result_content, TEXT, "values", values, "argument of check --values"),
    FIELD(struct result_content, COUNT, "runs", runs, NULL),
    FIELD_END,
};
static const struct record content_record = {.about = "the input values that make it fail",
                                             .size = sizeof(struct result_content),
                                             .optional = true,
                                             .fields = content_fields};

/* ---- The diagnosis ---- */

static bool has_pattern(const void *record)
{
    return ((const struct pattern *)record)->present;
}

static void finish_pattern(struct reading *r, const json_t *object, void *record)
{
    struct pattern *const pattern = record;

    pattern->present = pattern->text[0] != '\0' || json_read_array(r, object, "map") != NULL;
}

static const struct field pattern_fields[] = {
    FIELD(struct pattern, TEXT, "pattern", text, "the wrong elements of `minimal`", .when = has_pattern),
    FIELD(struct pattern, LINES, "map", map,
          "a character per rectangle: `.` all right, `o` some, `#` all wrong", .when = has_pattern,
          .count = offsetof(struct pattern, rows), .most = PATTERN_ROWS,
          .limits = "at most 8 rows of at most 48 characters"),
    FIELD_END,
};
static const struct record pattern_record = {.fields = pattern_fields, .finish = finish_pattern};

static bool has_no_rule(const void *record)
{
    return !((const struct diagnosis *)record)->rule.present;
}

static json_t *write_minimal(const void *record)
{
    return json_of_record(&config_record, &((const struct diagnosis *)record)->minimal);
}

/* Earlier versions wrote fewer details of the smallest failure, and others elsewhere. */
static void read_minimal(struct reading *r, const json_t *object, const char *key, void *record)
{
    struct config_result *const minimal = &((struct diagnosis *)record)->minimal;
    const json_t *const written = json_read_object(r, object, key);

    snprintf(r->at, sizeof r->at, "diagnosis.minimal.");
    if (written != NULL) {
        json_read_record(r, &config_record, written, minimal);
        return;
    }
    *minimal = (struct config_result){.unseen = true, .reason.tensor = -1};
    minimal->outcome = (enum outcome)json_read_name(r, object, "outcome", outcome_names.name,
                                                    outcome_names.count, OUTCOME_WRONG);
    json_read_copy(r, r->document, "minimal", minimal->line, sizeof minimal->line);
    json_read_copy(r, object, "detail", minimal->detail, sizeof minimal->detail);
}

static void finish_diagnosis(struct reading *r, const json_t *object, void *record)
{
    struct diagnosis *const d = record;

    (void)object; /* the rule lies beside the diagnosis */
    d->rule.present = json_read_object(r, r->document, "rule") != NULL;
    if (d->rule.present)
        json_read_record(r, &rule_record, json_read_object(r, r->document, "rule"), &d->rule);
}

/* Parts of a diagnosis that the result's `rule` and `minimal` lack. */
static const struct field diagnosis_fields[] = {
    FIELD(struct diagnosis, NAME, "outcome", minimal.outcome, NULL, .names = &outcome_names,
          .write_only = true),
    FIELD(struct diagnosis, TEXT, "detail", minimal.detail, "one sentence for people", .write_only = true),
    FIELD(struct diagnosis, BOOL, "locally_minimal", locally_minimal,
          "no single step of simplification still fails"),
    FIELD(struct diagnosis, COUNT, "shrink_runs", shrink_runs, NULL),
    FIELD(struct diagnosis, COUNT, "rule_runs", rule.runs, NULL),
    FIELD(struct diagnosis, TEXT, "no_rule", rule.reason, "why no rule was found", .when = has_no_rule),
    FIELD(struct diagnosis, TEXT, "closest", rule.closest, "without a rule: the condition that came closest"),
    FIELD(struct diagnosis, LIST, "kinds", kind, "the kinds of failures, if no single rule fits all",
          .record = &kind_record, .count = offsetof(struct diagnosis, kinds), .most = RESULT_KINDS,
          .limits = "at most 3 kinds", .at = "diagnosis.kinds"),
    FIELD(struct diagnosis, TEXT, "calls", calls, "which calls fail, if no first one does"),
    FIELD(struct diagnosis, RECORD, NULL, pattern, NULL, .record = &pattern_record),
    FIELD(struct diagnosis, NUMBER, "seconds", seconds, NULL),
    FIELD(struct diagnosis, BOOL, "late", late, "stopped by its time limit, not by its number of runs"),
    FIELD(struct diagnosis, RECORD, "content", content, NULL, .record = &content_record),
    FIELD_ITSELF(OWN, "minimal", "the simplest failing configuration, as it ran", .write = write_minimal,
                 .read = read_minimal, .record = &config_record),
    FIELD_END,
};
const struct record diagnosis_record = {.size = sizeof(struct diagnosis),
                                        .optional = true,
                                        .fields = diagnosis_fields,
                                        .finish = finish_diagnosis};

/* ---- `unseen shrink` ---- */

static json_t *write_from(const void *record)
{
    return json_of_text(((const struct result *)record)->results[0].line);
}

static const struct field shrunk_fields[] = {
    FIELD_ITSELF(OWN, "from", "the failure that was given", .write = write_from),
    FIELD(struct result, RECORD, "minimal", diagnosis.minimal, NULL, .record = &config_record),
    FIELD(struct result, BOOL, "locally_minimal", diagnosis.locally_minimal, NULL),
    FIELD(struct result, COUNT, "runs", diagnosis.shrink_runs, NULL),
    FIELD(struct result, RECORD, NULL, diagnosis.pattern, NULL, .record = &pattern_record),
    FIELD_END,
};
const struct record shrunk_record = {.fields = shrunk_fields};
