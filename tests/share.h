/* Which part of what is too much for every run: BATTERY_SHARE=N makes one in N, and the commit says which, the same for
 * everybody who tests it and another for the next; or BATTERY_ROTATION. */
#ifndef UNSEEN_TESTS_SHARE_H
#define UNSEEN_TESTS_SHARE_H

#include <stdbool.h>

#include "skip.h"

int share_size(void);
int share_rotation(void);        /* 0 to share_size() - 1 */
int share_rotation_of(int size); /* the same of another size */

/* Where parts are made: is the i-th of the one in `size` that this commit runs? */
bool share_has(int i, int size);

/* First line of the i-th test of a loop that is too much for every run. */
#define SHARE_TEST(i, size)                                                                                  \
    if (!share_has(i, size))                                                                                 \
    SKIP_TEST("one in " #size " of its loop runs with each commit")

/* The environment's number of that name, where it is at least `least`. */
int share_number(const char *name, int least, int otherwise);

#endif
