/* An open database, shared by the parts of the history. */
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

/* Opens the database with its tables. `writes`: creates it if needed. On failure nothing stays open. */
enum history_status database_open(struct database *d, const struct history *history, bool writes, char *error,
                                  size_t error_size);
void database_close(struct database *d);

/* Returns HISTORY_ENVIRONMENT, or HISTORY_INPUT for a file that is no database, with SQLite's message.
 * `doing`: "store the result". */
enum history_status database_fail(struct database *d, const char *doing);

/* false: sqlite3_errmsg says why. */
bool database_run(struct database *d, const char *sql);
sqlite3_stmt *database_prepare(struct database *d, const char *sql); /* NULL: sqlite3_errmsg says why */
bool database_step_done(sqlite3_stmt *statement); /* makes the only step of a statement, and finalizes it */

/* --- owner.c: is the process that began a row still alive? --- */

enum { OWNER_SIZE = 160 };
/* Identifies this process: by machine, boot, process namespace and pid. */
void owner_of_this(char owner[OWNER_SIZE]);
bool owner_is_gone(const char *owner); /* false if it is alive or its state is unknown */

#endif
