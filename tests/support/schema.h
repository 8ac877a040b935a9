/* Checks a document against a JSON Schema, with the keywords of our schema. */
#ifndef UNSEEN_TESTS_SCHEMA_H
#define UNSEEN_TESTS_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* type, required, properties, items, enum, const, anyOf, minimum and $ref into the document itself. Any other
 * keyword but notes for people is refused: an unchecked keyword must not look checked. False with the place
 * and the keyword in `error`. */
bool schema_allows(const json_t *schema, const json_t *document, char *error, size_t size);

/* The schema of a result, made from the tables that write and read it (reports/json/json_fields.h). The
 * caller frees it. */
char *schema_write(void);

#endif
