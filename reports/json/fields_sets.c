/* Tables of the seen and the unseen set. */
#include "json_fields.h"
#include "json_values.h"
#include "reports/record/scores.h"
#include "json_read_internal.h"

/* Their keys depend on the result, too. */
struct set_keys {
    struct set_score set;
    bool memory_bound;
    bool open; /* the score has no number (scores.h) */
};

static bool has_configs(const void *record)
{
    return ((const struct set_keys *)record)->set.configs > 0;
}

static bool has_times(const void *record)
{
    return ((const struct set_keys *)record)->set.timed;
}

static bool has_score(const void *record)
{
    return has_times(record) && !((const struct set_keys *)record)->open;
}

static json_t *write_rate(const void *record)
{
    const struct set_keys *const keys = record;

    return json_pack("{s:o}", keys->memory_bound ? "geomean_gbps" : "geomean_tflops",
                     json_of_number_if(keys->set.timed, keys->set.geomean_rate));
}

static void read_rate(struct reading *r, const json_t *object, const char *key, void *record)
{
    struct set_keys *const keys = record;

    (void)key; /* it is one of two */
    keys->memory_bound = json_object_get(object, "geomean_gbps") != NULL;
    keys->set.geomean_rate =
        json_read_number(r, object, keys->memory_bound ? "geomean_gbps" : "geomean_tflops", 0);
}

static void finish_set(struct reading *r, const json_t *object, void *record)
{
    struct set_score *const set = &((struct set_keys *)record)->set;

    set->timed = json_is_number(json_object_get(object, "geomean_fraction"));
    set->score = json_read_number(r, object, "score", set->rate * set->geomean_fraction);
}

#define RATE_SCHEMA(key)                                                                                     \
    "{\"required\": [\"" key "\"], \"properties\": {\"" key                                                  \
    "\": {\"anyOf\": [{\"$ref\": \"#/$defs/number\"}, {\"type\": \"null\"}]}}}"

static const struct field set_fields[] = {
    FIELD(struct set_keys, COUNT, "configs", set.configs, NULL),
    FIELD(struct set_keys, EACH, NULL, set.outcome, NULL, .names = &outcome_names),
    FIELD(struct set_keys, NUMBER, "rate", set.rate, "pass / configs", .when = has_configs),
    FIELD_ITSELF(OWN, NULL, NULL, .write = write_rate, .read = read_rate,
                 .schema =
                     "{\"anyOf\": [" RATE_SCHEMA("geomean_gbps") ", " RATE_SCHEMA("geomean_tflops") "]}"),
    FIELD(struct set_keys, NUMBER, "geomean_fraction", set.geomean_fraction, "of the attainable speed",
          .when = has_times),
    FIELD(struct set_keys, NUMBER, "fraction_low", set.fraction_low, "95% interval", .when = has_times),
    FIELD(struct set_keys, NUMBER, "fraction_high", set.fraction_high, NULL, .when = has_times),
    FIELD(struct set_keys, NUMBER, "score", set.score, "rate * geomean_fraction", .when = has_score),
    FIELD_END,
};
static const struct record set_record = {.definition = "set", .fields = set_fields, .finish = finish_set};

static json_t *write_set(const struct result *result, const struct set_score *set)
{
    const struct set_keys keys = {*set, result->memory_bound,
                                  score_open(result, set == &result->unseen) != NULL};

    return json_of_record(&set_record, &keys);
}

static void read_set(struct reading *r, const json_t *object, const char *key, struct result *result,
                     struct set_score *set)
{
    struct set_keys keys = {.open = false};

    json_read_record(r, &set_record, json_read_object(r, object, key), &keys);
    *set = keys.set;
    result->memory_bound = keys.memory_bound;
}

static json_t *write_seen(const void *record)
{
    const struct result *const result = record;

    return write_set(result, &result->seen);
}

static json_t *write_unseen(const void *record)
{
    const struct result *const result = record;

    return write_set(result, &result->unseen);
}

static void read_seen(struct reading *r, const json_t *object, const char *key, void *record)
{
    struct result *const result = record;

    read_set(r, object, key, result, &result->seen);
}

static void read_unseen(struct reading *r, const json_t *object, const char *key, void *record)
{
    struct result *const result = record;

    read_set(r, object, key, result, &result->unseen);
}

static json_t *write_directed(const void *record)
{
    const struct result *const result = record;

    return write_set(result, &result->directed);
}

static void read_directed(struct reading *r, const json_t *object, const char *key, void *record)
{
    struct result *const result = record;

    if (json_is_object(json_object_get(object, key)))
        read_set(r, object, key, result, &result->directed);
}

static bool has_directed(const void *record)
{
    return ((const struct result *)record)->directed.configs > 0;
}

static const struct field sets_fields[] = {
    FIELD_ITSELF(OWN, "seen", NULL, .write = write_seen, .read = read_seen, .record = &set_record),
    FIELD_ITSELF(OWN, "unseen", NULL, .write = write_unseen, .read = read_unseen, .record = &set_record),
    FIELD_ITSELF(OWN, "directed", "configurations for conditions in the code; in none of the two sets",
                 .write = write_directed, .read = read_directed, .record = &set_record, .when = has_directed),
    FIELD_END,
};
const struct record sets_record = {.fields = sets_fields};
