/* Typed access to a stored result's values by key. The first unexpected value is recorded as the error. */
#ifndef UNSEEN_JSON_READ_INTERNAL_H
#define UNSEEN_JSON_READ_INTERNAL_H

#include "json_fields.h"
#include "json_read.h"

struct reading {
    const char *path;
    char at[64]; /* path of the current object in the document: "results[3]."; "" at the top */
    char *error;
    size_t error_size;
    bool failed;    /* `error` is filled; later errors do not overwrite it */
    bool no_memory; /* something could not be allocated */
    const json_t *document;
    struct problem *problem;
};

/* Each function returns its last argument if the key is missing or null, or after a failure. */
bool json_read_flag(struct reading *r, const json_t *object, const char *key, bool otherwise);
double json_read_number(struct reading *r, const json_t *object, const char *key, double otherwise);
int64_t json_read_whole(struct reading *r, const json_t *object, const char *key, int64_t low, int64_t high,
                        int64_t otherwise);
int json_read_count(struct reading *r, const json_t *object, const char *key); /* at least 0; default 0 */
const char *json_read_text(struct reading *r, const json_t *object, const char *key); /* default NULL */
void json_read_copy(struct reading *r, const json_t *object, const char *key, char *buffer, size_t size);
/* Maps a name among `count` names to its index. */
typedef const char *name_of(int i);
int json_read_name(struct reading *r, const json_t *object, const char *key, name_of *name, int count,
                   int otherwise);
const json_t *json_read_object(struct reading *r, const json_t *object, const char *key); /* default NULL */
const json_t *json_read_array(struct reading *r, const json_t *object, const char *key);  /* default NULL */
/* Records the error "KEY is FOUND; expected EXPECTED", unless there is one already. `value` NULL: the key is
 * missing. */
void json_read_fail(struct reading *r, const char *key, const json_t *value, const char *expected);

/* Fills r->problem, which the caller frees; it stays NULL without axes. */
void json_read_axes(struct reading *r, const json_t *json, const char *problem);
/* Fills `data` with the values of all keys of `record`. Missing keys give the values of an empty object;
 * `object` NULL is one. */
void json_read_record(struct reading *r, const struct record *record, const json_t *object, void *data);

#endif
