/* Two stored results: what one of them says of each configuration that both have. */
#ifndef UNSEEN_MATCHED_H
#define UNSEEN_MATCHED_H

#include "reports/comparison.h"

enum matched_status { MATCHED_OK, MATCHED_INPUT, MATCHED_ENVIRONMENT };

/* Compare new with old, configuration by configuration, by their lines. Where both were timed beside the problem's own
 * baseline, each is held against it (COMPARISON_DRIFT), else their medians against each other. Results of different
 * problems or devices, and such as have no configuration in common, are errors; `name` is what to call them there. The caller
 * frees comparison->item. */
enum matched_status matched(const struct result *old, const struct result *new, const char *const name[2],
                            struct comparison *comparison, char *error, size_t error_size);

/* May they be compared at all? The same errors, but for configurations. */
enum matched_status matched_check(const struct result *old, const struct result *new,
                                  const char *const name[2], char *error, size_t error_size);

#endif
