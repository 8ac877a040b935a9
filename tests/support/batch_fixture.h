/* A folder of its own and a list of candidates, for the tests of batches. */
#ifndef UNSEEN_TESTS_BATCH_FIXTURE_H
#define UNSEEN_TESTS_BATCH_FIXTURE_H

#include <stdlib.h>

#include "verify/batch/line.h"

void batch_enter(void); /* fixture: an empty working directory */
void batch_leave(void);
void batch_limit_files(long bytes); /* no file grows beyond that */
void batch_put(const char *path, const char *text);

/* `count` items k0, k1, .. of the problem softmax, whose files exist. */
struct batch_list batch_some(int count);
/* The line of an item as verify would end: 0 general, 1 broken, 3 or -1 lost. */
json_t *batch_ended(const struct batch_item *item, int status, int attempts);

#endif
