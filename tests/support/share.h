/* The part of an expensive test that one run takes. BATTERY_SHARE=N runs one case in N. The commit, or
 * BATTERY_ROTATION, chooses which. All runs of one commit take the same cases, and the next commit takes
 * others. After a run share_print_all lists the commands that repeat these parts. */
#ifndef UNSEEN_TESTS_SHARE_H
#define UNSEEN_TESTS_SHARE_H

#include <stdbool.h>

#include "skip.h"

/* Before the first test: tests run in processes of their own, which report to this one. `program` is the test
 * binary in the printed commands. */
void share_open(const char *program);

int share_size(void);
int share_rotation_of(int size); /* 0 to size - 1 */

/* True for the i-th part of a loop with `size` parts, if this commit runs it. */
bool share_has(int i, int size);

/* Prints "again: ..", a command that runs the same part of a suite, or of one of its cases. */
void share_print(const char *suite, const char *tcase);

/* The same for every case that asked for its part; `log` is Check's log of the run. */
void share_print_all(const char *log);

/* First line of the i-th test of a loop that is too long for every run. */
#define SHARE_TEST(i, size)                                                                                  \
    if (!share_has(i, size))                                                                                 \
    SKIP_TEST("one in " #size " of its loop runs with each commit")

/* The environment's number of that name, where it is at least `least`. */
int share_number(const char *name, int least, int otherwise);

#endif
