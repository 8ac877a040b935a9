/* A task by hand for the suite oracle_task: y = 2 x, and where x is greatest. Its right answers come from a
 * stand-in for the oracle, tests/python/fixture_oracle.py. The first word of the file how.task decides its
 * behaviour. */
#ifndef UNSEEN_TESTS_ORACLE_TASK_H
#define UNSEEN_TESTS_ORACLE_TASK_H

#include "problems/problem.h"

enum { X, Y, AT, N = 37 };

extern char task_folder[64]; /* while a task is open */
extern const struct problem task_doubled;

void task_make(void); /* an empty folder */
void task_put(const char *name, const char *text);
void task_remove(void);

bool task_has_python(void); /* python3 on PATH, for the stand-in */
const char *
task_torch(void); /* a Python with torch: UNSEEN_TEST_PYTHON or build/venv/bin/python; NULL: neither */

#endif
