/* Typed access to a stored result's values by key. The first unexpected value is recorded as the error. */
#ifndef UNSEEN_STORED_INTERNAL_H
#define UNSEEN_STORED_INTERNAL_H

#include <jansson.h>

#include "stored.h"

struct reading {
    const char *path;
    char at[64]; /* path of the current object in the document: "results[3]."; "" at the top */
    char *error;
    size_t error_size;
    bool failed; /* `error` is filled; later errors do not overwrite it */
    struct problem *problem;
};

/* Each function returns its last argument if the key is missing or null, or after a failure. */
bool stored_flag(struct reading *r, const json_t *object, const char *key, bool otherwise);
double stored_number(struct reading *r, const json_t *object, const char *key, double otherwise);
int64_t stored_whole(struct reading *r, const json_t *object, const char *key, int64_t low, int64_t high,
                     int64_t otherwise);
int stored_count(struct reading *r, const json_t *object, const char *key);        /* at least 0; default 0 */
const char *stored_text(struct reading *r, const json_t *object, const char *key); /* default NULL */
void stored_copy(struct reading *r, const json_t *object, const char *key, char *buffer, size_t size);
/* Maps a name among `count` names to its index. */
typedef const char *name_of(int i);
int stored_name(struct reading *r, const json_t *object, const char *key, name_of *name, int count,
                int otherwise);
const json_t *stored_object(struct reading *r, const json_t *object, const char *key); /* default NULL */
const json_t *stored_array(struct reading *r, const json_t *object, const char *key);  /* default NULL */
/* Records the error "KEY is FOUND; expected EXPECTED", unless there is one already. `value` NULL: the key is
 * missing. */
void stored_fail(struct reading *r, const char *key, const json_t *value, const char *expected);

/* Fills r->problem, which the caller frees; it stays NULL without axes or out of memory. */
void stored_axes(struct reading *r, const json_t *json, const char *problem);
bool stored_words(struct reading *r, const json_t *json, struct stored *stored); /* false: out of memory */

void stored_config(struct reading *r, const json_t *json, struct config_result *config);
const char *stored_outcome_word(int i); /* a name function for stored_name */
void stored_rule(struct reading *r, const json_t *json, const json_t *diagnosis, struct result_rule *rule);
void stored_kinds(struct reading *r, const json_t *diagnosis, struct diagnosis *d);
void stored_content(struct reading *r, const json_t *diagnosis, struct result_content *content);
void stored_scores(struct reading *r, const json_t *json, struct result *result);

#endif
