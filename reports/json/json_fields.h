/* Tables of the JSON result. One row describes one key: its type, its place in a struct, the condition under
 * which it applies, and its description. The writer, the reader and the JSON schema all walk these tables. */
#ifndef UNSEEN_JSON_FIELDS_H
#define UNSEEN_JSON_FIELDS_H

#include <jansson.h>

#include "reports/record/result.h"

struct reading; /* json_read_internal.h */
struct record;

enum field_type {
    FIELD_BOOL,
    FIELD_NOT,      /* bool, written inverted; true if the key is missing */
    FIELD_COUNT,    /* int from `low` (0) to `high` (INT32_MAX) */
    FIELD_WHOLE,    /* int64_t, at least 0 */
    FIELD_SEED,     /* uint64_t, written as a signed number */
    FIELD_NUMBER,   /* double; numbers that are not finite are texts */
    FIELD_POSITIVE, /* double; null unless it is above 0 */
    FIELD_TEXT,     /* char array of `size`; null if empty */
    FIELD_STRING,   /* const char *, which the parsed document holds; null if empty or NULL */
    FIELD_NAME,     /* enum, by its name in `names`; null if that value has no name */
    FIELD_EITHER,   /* bool, as one of two `words`: false, true */
    FIELD_LINES,    /* array of char arrays */
    FIELD_RECORD,   /* struct, described by `record` */
    FIELD_LIST,     /* array of structs, described by `record` */
    FIELD_EACH,     /* array indexed by `names`, one key for each: structs of `record`, or ints without one */
    FIELD_OWN       /* functions of the row's own */
};

/* Names of an enum's values from 0 on. NULL among them: that value is written as null. */
struct names {
    const char *definition; /* name in the schema's $defs; NULL: written out at each use */
    const char *(*name)(int value);
    int count;
};

struct field {
    const char *key; /* NULL: the value is an object whose keys join those of the record */
    enum field_type type;
    size_t offset, size;              /* of the member */
    const char *about;                /* description in the schema; NULL: the key says it */
    bool (*when)(const void *record); /* the value is null where this is false; NULL: it always applies */
    bool gated; /* the reader, too, ignores the key where `when` is false, as known from the rows before */
    bool write_only;          /* the reader ignores the key: it repeats another one, or is computed */
    const char *required;     /* the reader refuses a missing value; words for what it expected */
    int low, high, otherwise; /* FIELD_COUNT: range, and value if missing; FIELD_NAME: value if missing */
    const struct names *names;
    const char *words[2];
    bool lenient; /* FIELD_EITHER: the reader takes other words for the first one */
    bool filled;  /* FIELD_TEXT, FIELD_STRING: never empty, as the schema says */
    const struct record *record;
    /* FIELD_LIST, FIELD_LINES: where the int count of elements is. Lines without one end at an empty line. */
    size_t count;
    size_t most;        /* FIELD_LIST, FIELD_LINES: length of the array; 0: the list is allocated */
    const char *limits; /* expected, in words, if a list has more elements or others */
    bool objects;       /* FIELD_LIST: the reader refuses elements that are no objects */
    const char *at;     /* path of this value, which the reader's errors in it begin with */
    /* FIELD_OWN. `record` is the struct that has the row. */
    json_t *(*write)(const void *record);
    void (*read)(struct reading *r, const json_t *object, const char *key, void *record);
    const char *schema; /* JSON text; without a key, an object whose keywords join those of the record */
};

struct record {
    const char *definition; /* name in the schema's $defs; NULL: written out at each use */
    const char *about;
    size_t size;
    bool optional;              /* the struct begins with `bool present`; the value is null without it */
    const struct field *fields; /* end: a row of type FIELD_BOOL without a key */
    /* After all keys were read: values that depend on several keys. `object` NULL: the object is missing. */
    void (*finish)(struct reading *r, const json_t *object, void *record);
};

/* A row for one member. The arguments after the member are the description and designated initializers. */
#define FIELD(in, kind, name, member, ...)                                                                   \
    {                                                                                                        \
        .key = name, .type = FIELD_##kind, .offset = offsetof(in, member), .size = sizeof((in *)0)->member,  \
        .about = __VA_ARGS__                                                                                 \
    }
/* A row for keys that several members or none stand for. */
#define FIELD_ITSELF(kind, name, ...)                                                                        \
    {                                                                                                        \
        .key = name, .type = FIELD_##kind, .about = __VA_ARGS__                                              \
    }
#define FIELD_END                                                                                            \
    {                                                                                                        \
        .key = NULL                                                                                          \
    }

/* Is it the row behind the last one? */
static inline bool field_is_end(const struct field *field)
{
    return field->key == NULL && field->type == FIELD_BOOL;
}

/* The object of all keys of a record; null if it is optional and not present. The caller owns it; NULL: out
 * of memory. */
json_t *json_of_record(const struct record *record, const void *data);

enum { SCHEMA_NUMBER = 1 };
extern const struct record result_record; /* the document */
/* its parts, by file */
extern const struct record tool_record, candidate_record, device_record, limits_record, company_record,
    phase_record, run_baseline_record, coverage_record;               /* fields_run.c */
extern const struct record branches_record;                           /* fields_branches.c */
extern const struct record sets_record;                               /* fields_sets.c */
extern const struct record axes_record, derived_record, words_record; /* fields_axes.c */
extern const struct record config_record, ratio_record;               /* fields_config.c */
extern const struct names outcome_names;
extern const struct record rule_record, diagnosis_record, shrunk_record; /* fields_diagnosis.c */
extern const struct record scores_record;                                /* fields_scores.c */
extern const struct record findings_record;                              /* fields_result.c */

#endif
