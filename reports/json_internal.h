/* Parts of the machine-readable result; json.c puts them together. Each returns a value that its caller owns, NULL when memory
 * is out. */
#ifndef UNSEEN_JSON_INTERNAL_H
#define UNSEEN_JSON_INTERNAL_H

#include <jansson.h>

#include "result.h"

/* JSON has no NaN and no infinity: those are strings. */
json_t *json_of_number(double value);
json_t *json_of_number_if(bool applies, double value); /* null: it does not apply */
/* null where there is none. A path or a candidate's words may hold any bytes; those that are not UTF-8 read '?'. */
json_t *json_of_text(const char *value);

/* Names of the problem's derived sizes whose values configurations have. */
json_t *json_of_derived(const struct result *result);
/* One configuration as it ran. */
json_t *json_of_config(const struct config_result *config);
/* When it fails; null: no rule. */
json_t *json_of_rule(const struct diagnosis *diagnosis);
json_t *json_of_kinds(const struct diagnosis *d);
/* Which values make it fail; null: not known. */
json_t *json_of_content(const struct diagnosis *diagnosis);
/* Axes of the problem, which `values` of a configuration follow; null: no configuration has a problem. */
json_t *json_of_axes(const struct result *result);

#endif
