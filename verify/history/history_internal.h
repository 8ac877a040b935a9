/* What the parts of the history share: an open database. */
#ifndef UNSEEN_HISTORY_INTERNAL_H
#define UNSEEN_HISTORY_INTERNAL_H

#include <sqlite3.h>

#include "history.h"

struct database {
    const char *path;
    sqlite3 *db;
    char *error;
    size_t error_size;
};

/* Open, with its tables. `writes`: it is made where there is none. On failure nothing is open. */
enum history_status database_open(struct database *d, const struct history *history, bool writes, char *error,
                                  size_t error_size);
void database_close(struct database *d);

/* HISTORY_ENVIRONMENT, or HISTORY_INPUT where it is no database, with what SQLite says. `doing`: "store the result". */
enum history_status database_fail(struct database *d, const char *doing);

/* false: sqlite3_errmsg says why. */
bool database_run(struct database *d, const char *sql);
sqlite3_stmt *database_prepare(struct database *d, const char *sql); /* NULL likewise */
bool database_step_done(sqlite3_stmt *statement);                    /* one step, to its end; finalizes it */

/* --- owner.c: is the process that began a row gone? --- */

enum { OWNER_SIZE = 160 };
/* This process, on this machine since it was started, among these processes. */
void owner_of_this(char owner[OWNER_SIZE]);
bool owner_is_gone(const char *owner); /* false also where that cannot be known from here */

#endif
