/* Tables of the scores. A stored result's scores are not recomputed, since the table of rewards is not in the
 * file. */
#include "json_fields.h"
#include "reports/record/scores.h"
#include "json_read_internal.h"

static const char *state_word(int i)
{
    return score_state_name((enum score_state)i);
}

static const char *score_word(int i)
{
    return score_traits((enum score_name)i)->name;
}

static const struct names state_names = {NULL, state_word, SCORE_STATES};
static const struct names score_names = {NULL, score_word, SCORE_NAMES};

static bool has_value(const void *record)
{
    return ((const struct score_value *)record)->state == SCORE_VALUE;
}

static const struct field value_fields[] = {
    FIELD(struct score_value, NAME, "state", state, NULL, .names = &state_names),
    FIELD(struct score_value, NUMBER, "value", value, NULL, .when = has_value),
    FIELD(struct score_value, TEXT, "reason", reason, "one clause for people"),
    FIELD_END,
};
static const struct record value_record = {
    .definition = "score", .size = sizeof(struct score_value), .fields = value_fields};

static const struct field quadrant_fields[] = {
    FIELD(struct score_quadrants, COUNT, "both", both, NULL),
    FIELD(struct score_quadrants, COUNT, "regression", regression, "the baseline alone"),
    FIELD(struct score_quadrants, COUNT, "improvement", improvement, "the candidate alone"),
    FIELD(struct score_quadrants, COUNT, "neither", neither, NULL),
    FIELD(struct score_quadrants, COUNT, "unknown", unknown, "the baseline was not judged"),
    FIELD_END,
};
static const struct record quadrants_record = {.about =
                                                   "configurations by which of candidate and baseline pass",
                                               .size = sizeof(struct score_quadrants),
                                               .fields = quadrant_fields};

static bool is_compared(const void *record)
{
    return ((const struct result_scores *)record)->compared;
}

/* The scores of one set; both lie in the same struct. */
#define SET_FIELDS(set)                                                                                      \
    FIELD(struct result_scores, EACH, NULL, set, NULL, .names = &score_names, .record = &value_record),      \
        FIELD(struct result_scores, RECORD, "quadrants", set##_quadrants, NULL, .when = is_compared,         \
              .record = &quadrants_record),                                                                  \
        FIELD_END,

static const struct field seen_fields[] = {SET_FIELDS(seen)}, unseen_fields[] = {SET_FIELDS(unseen)};
static const struct record seen_record = {.definition = "scores", .fields = seen_fields};
static const struct record unseen_record = {.definition = "scores", .fields = unseen_fields};

static json_t *write_sources(const void *record)
{
    json_t *json = json_object();

    (void)record; /* they are the same for all results */
    for (int i = 0; i < SCORE_NAMES; i++)
        if (score_traits((enum score_name)i)->source != NULL)
            json_object_set_new(json, score_word(i), json_string(score_traits((enum score_name)i)->source));
    return json;
}

static const struct field scores_fields[] = {
    FIELD(struct result_scores, BOOL, "compared", compared, "there was a baseline"),
    FIELD_ITSELF(RECORD, "seen", NULL, .record = &seen_record),
    FIELD_ITSELF(RECORD, "unseen", NULL, .record = &unseen_record),
    FIELD_ITSELF(OWN, "sources", "where the formulas are from", .write = write_sources, .write_only = true,
                 .schema = "{\"type\": \"object\"}"),
    FIELD_END,
};
const struct record scores_record = {
    .size = sizeof(struct result_scores), .optional = true, .fields = scores_fields};
