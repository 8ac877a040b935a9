/* A comparison as one JSON document (doc/compare.md). */
#ifndef UNSEEN_COMPARISON_JSON_H
#define UNSEEN_COMPARISON_JSON_H

#include "reports/record/comparison.h"

/* Returns 0; or -1 with a message in `error`, leaving the earlier file intact. */
int comparison_json_write(const char *path, const struct comparison *comparison, char *error,
                          size_t error_size);

#endif
