/* The part of an expensive test that one run takes. BATTERY_SHARE=N runs one case in N. The commit, or
 * BATTERY_ROTATION, chooses which. All runs of one commit take the same cases, and the next commit takes
 * others. */
#ifndef UNSEEN_TESTS_SHARE_H
#define UNSEEN_TESTS_SHARE_H

#include <stdbool.h>

#include "skip.h"

int share_size(void);
int share_rotation(void);        /* 0 to share_size() - 1 */
int share_rotation_of(int size); /* the same of another size */

/* True for the i-th part of a loop with `size` parts, if this commit runs it. */
bool share_has(int i, int size);

/* First line of the i-th test of a loop that is too long for every run. */
#define SHARE_TEST(i, size)                                                                                  \
    if (!share_has(i, size))                                                                                 \
    SKIP_TEST("one in " #size " of its loop runs with each commit")

/* The environment's number of that name, where it is at least `least`. */
int share_number(const char *name, int least, int otherwise);

#endif
