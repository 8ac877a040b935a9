/* Compares two stored results on the configurations that both have. */
#ifndef UNSEEN_COMPARE_STORED_H
#define UNSEEN_COMPARE_STORED_H

#include "reports/record/comparison.h"

enum compare_stored_status { COMPARE_STORED_OK, COMPARE_STORED_INPUT, COMPARE_STORED_ENVIRONMENT };

/* Compares new with old by their configuration lines. If both were timed beside the problem's own baseline,
 * compares their ratios to it (COMPARISON_DRIFT), else their medians. Errors: different problems or devices,
 * or no configuration in common. `name` has the names of both sides for messages. The caller frees
 * comparison->item. */
enum compare_stored_status matched(const struct result *old, const struct result *new,
                                   const char *const name[2], struct comparison *comparison, char *error,
                                   size_t error_size);

/* Checks whether they are comparable at all: the same errors, except those about configurations. */
enum compare_stored_status compare_stored_check(const struct result *old, const struct result *new,
                                                const char *const name[2], char *error, size_t error_size);

#endif
