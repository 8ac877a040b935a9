/* Parts of the JSON result; json.c puts them together. Each function returns a value that its caller owns, or
 * NULL if memory ran out. */
#ifndef UNSEEN_JSON_INTERNAL_H
#define UNSEEN_JSON_INTERNAL_H

#include <jansson.h>

#include "result.h"

/* JSON has no NaN and no infinity: they are written as strings. */
json_t *json_of_number(double value);
json_t *json_of_number_if(bool applies, double value); /* null if it does not apply */
/* null for NULL. A path or a candidate's message may hold any bytes; bytes that are not UTF-8 become '?'. */
json_t *json_of_text(const char *value);

/* Names of the problem's derived sizes; each configuration has their values. */
json_t *json_of_derived(const struct result *result);
/* One configuration as it ran. */
json_t *json_of_config(const struct config_result *config);
/* The condition under which it fails; null: no rule. */
json_t *json_of_rule(const struct diagnosis *diagnosis);
json_t *json_of_kinds(const struct diagnosis *d);
/* The input values that make it fail; null: not known. */
json_t *json_of_content(const struct diagnosis *diagnosis);
/* The problem's axes, in the order of a configuration's `values`; null: no configuration has a problem. */
json_t *json_of_axes(const struct result *result);

#endif
