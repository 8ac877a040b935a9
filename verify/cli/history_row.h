/* --db: a run's row in the history database, from its start to its end. */
#ifndef UNSEEN_HISTORY_ROW_H
#define UNSEEN_HISTORY_ROW_H

#include "verify/history/history.h"

struct history_row {
    const char *db; /* NULL: no history */
    char token[HISTORY_TOKEN];
    char error[1024]; /* why the result could not be stored; empty: it was */
};

/* Adds the row. Returns 0, or an exit status after printing an error. */
int history_row_begin(struct history_row *keeping, const char *db, const struct result *result);

/* Completes the row; a failure is stored in keeping->error. */
void history_row_finish(struct history_row *keeping, const struct result *result);

#endif
