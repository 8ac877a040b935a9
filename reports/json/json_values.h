/* Values of JSON documents. Each function returns a value that its caller owns, or NULL if memory ran out. */
#ifndef UNSEEN_JSON_VALUES_H
#define UNSEEN_JSON_VALUES_H

#include <jansson.h>
#include <stdbool.h>

/* JSON has no NaN and no infinity: they are written as strings. */
json_t *json_of_number(double value);
json_t *json_of_number_if(bool applies, double value); /* null if it does not apply */
/* null for NULL. A path or a candidate's message may hold any bytes; bytes that are not UTF-8 become '?'. */
json_t *json_of_text(const char *value);

#endif
