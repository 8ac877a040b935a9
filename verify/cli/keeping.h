/* --db: a run's row in the database of runs, from its start to its end. */
#ifndef UNSEEN_KEEPING_H
#define UNSEEN_KEEPING_H

#include "verify/history/history.h"

struct keeping {
    const char *db; /* NULL: not asked for */
    char token[HISTORY_TOKEN];
    char error[1024]; /* the result could not be stored; empty: it was */
};

/* Returns 0, or an exit status after printing an error. */
int keeping_begin(struct keeping *keeping, const char *db, const struct result *result);

/* The row's rest; a failure is kept in keeping->error. */
void keeping_finish(struct keeping *keeping, const struct result *result);

#endif
