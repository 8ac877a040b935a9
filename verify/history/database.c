/* Opens the database: checks the file, its tables and their version. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history_internal.h"

enum { APPLICATION = 0x756e7365, MINUTE_MS = 60000 }; /* "unse": identifies this tool's databases */

static const char schema[] =
    "CREATE TABLE run ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " token TEXT NOT NULL UNIQUE,"
    " fingerprint TEXT," /* identifies a finished run's result, so that it is not imported twice */
    " state TEXT NOT NULL CHECK (state IN ('unfinished', 'interrupted', 'finished')),"
    " owner TEXT,"
    " started INTEGER NOT NULL, finished INTEGER," /* seconds since 1970, UTC */
    " problem TEXT NOT NULL, candidate TEXT NOT NULL, candidate_sha256 TEXT, language TEXT, baseline TEXT,"
    " device TEXT, driver TEXT, seed INTEGER NOT NULL, commitment TEXT, effort TEXT, version TEXT, git TEXT,"
    " verdict TEXT, partial TEXT, rule TEXT, minimal TEXT, seconds REAL,"
    " drop_points REAL, retention REAL,"
    " seen_configs INTEGER, seen_pass INTEGER, seen_ms REAL, seen_fraction REAL, seen_score REAL,"
    " unseen_configs INTEGER, unseen_pass INTEGER, unseen_ms REAL, unseen_fraction REAL, unseen_score REAL);"
    "CREATE INDEX run_problem ON run (problem, started);"
    "CREATE INDEX run_candidate ON run (candidate_sha256, started);"
    "CREATE INDEX run_fingerprint ON run (fingerprint);"
    "CREATE TABLE configuration ("
    " run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, place INTEGER NOT NULL,"
    " line TEXT NOT NULL, unseen INTEGER NOT NULL, outcome TEXT NOT NULL, detail TEXT,"
    " median_ms REAL, low_ms REAL, high_ms REAL, samples INTEGER, trusted INTEGER,"
    " attainable_ms REAL, fraction REAL, baseline_ms REAL, baseline_outcome TEXT,"
    " PRIMARY KEY (run, place)) WITHOUT ROWID;"
    "PRAGMA application_id = 1970172773;" /* APPLICATION */
    "PRAGMA user_version = 1;";

static enum history_status say(struct database *d, enum history_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static enum history_status say(struct database *d, enum history_status status, const char *format, ...)
{
    va_list arguments;
    const int used = snprintf(d->error, d->error_size, "%s: ", d->path);
    va_start(arguments, format);
    if (used >= 0 && (size_t)used < d->error_size)
        vsnprintf(d->error + used, d->error_size - (size_t)used, format, arguments);
    va_end(arguments);
    return status;
}

static const char *advice(int code)
{
    switch (code & 0xff) {
    case SQLITE_FULL: return "free some space";
    case SQLITE_IOERR: return "free some space, or check the disk";
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "somebody has it open for writing all the time: wait, or stop that";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN: return "give a file in a folder that may be written";
    case SQLITE_CORRUPT: return "it is damaged: begin another one";
    default: return "give another file";
    }
}

enum history_status database_fail(struct database *d, const char *doing)
{
    const int code = sqlite3_extended_errcode(d->db);
    if ((code & 0xff) == SQLITE_NOTADB)
        return say(d, HISTORY_INPUT,
                   "is not a database; expected one of `verify --db`\n---> give another path");
    return say(d, HISTORY_ENVIRONMENT, "cannot %s: %s; expected a database that can be %s\n---> %s", doing,
               sqlite3_errmsg(d->db), strstr(doing, "read") ? "read" : "written", advice(code));
}

bool database_run(struct database *d, const char *sql)
{
    return sqlite3_exec(d->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

sqlite3_stmt *database_prepare(struct database *d, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    return sqlite3_prepare_v2(d->db, sql, -1, &statement, NULL) == SQLITE_OK ? statement : NULL;
}

bool database_step_done(sqlite3_stmt *statement)
{
    int status;
    do
        status = sqlite3_step(statement);
    while (status == SQLITE_ROW);
    return sqlite3_finalize(statement) == SQLITE_OK && status == SQLITE_DONE;
}

/* Returns the value, or -1; sqlite3_errmsg says why. */
static int64_t number_of(struct database *d, const char *sql)
{
    sqlite3_stmt *const statement = database_prepare(d, sql);
    const int64_t value =
        statement && sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
    sqlite3_finalize(statement);
    return value;
}

/* Classifies the path with our own messages, since SQLite's are the same for most cases. */
static enum history_status look(struct database *d, bool writes)
{
    struct stat status;
    if (stat(d->path, &status) != 0) {
        if (errno == ENOENT && writes)
            return HISTORY_OK; /* SQLite creates it, or reports a missing folder */
        return say(d, errno == ENOENT ? HISTORY_INPUT : HISTORY_ENVIRONMENT,
                   "cannot be read: %s; expected a database of `verify --db`\n---> check the path",
                   strerror(errno));
    }
    if (S_ISDIR(status.st_mode))
        return say(d, HISTORY_INPUT, "is a directory; expected the name of a file\n---> add a name to it");
    if (!S_ISREG(status.st_mode))
        return say(d, HISTORY_INPUT, "is no regular file; expected one\n---> give another path");
    if (access(d->path, R_OK | (writes ? W_OK : 0)) != 0)
        return say(d, HISTORY_ENVIRONMENT, "cannot be %s: %s; expected a file with that permission\n---> %s",
                   writes ? "written" : "read", strerror(errno), advice(SQLITE_READONLY));
    return HISTORY_OK;
}

/* Checks that the database is ours, in a transaction if tables may be created, so that two processes create
 * them only once. */
static enum history_status check_kind(struct database *d, bool writes)
{
    const int64_t tables = number_of(d, "SELECT count(*) FROM sqlite_master");
    const int64_t version = number_of(d, "PRAGMA user_version");
    const int64_t application = number_of(d, "PRAGMA application_id");
    if (tables < 0 || version < 0)
        return database_fail(d, "read it");
    if (tables == 0 && version == 0 && writes)
        return database_run(d, schema) ? HISTORY_OK : database_fail(d, "make its tables");
    if (tables == 0 && version == 0)
        return HISTORY_OK;
    if (application != APPLICATION)
        return say(d, HISTORY_INPUT,
                   "is a database of something else; expected one of `verify --db`\n"
                   "---> give another path");
    if (version > HISTORY_VERSION)
        return say(d, HISTORY_INPUT, "has schema %lld; expected %d at most\n---> use a newer unseen",
                   (long long)version, HISTORY_VERSION);
    return HISTORY_OK;
}

/* SQLite may refuse two connections that change the mode at once without waiting, so this retries. */
static bool write_ahead(struct database *d)
{
    enum { TRIES = 200 };
    for (int i = 0; i < TRIES; i++) {
        if (database_run(d, "PRAGMA journal_mode = WAL"))
            return true;
        if ((sqlite3_errcode(d->db) & 0xff) != SQLITE_BUSY)
            return false;
        sqlite3_sleep(10);
    }
    return false;
}

static enum history_status prepare(struct database *d, const struct history *history, bool writes)
{
    sqlite3_busy_timeout(d->db, history->busy_ms > 0 ? history->busy_ms : MINUTE_MS);
    if (!writes)
        return check_kind(d, false);
    if (number_of(d, "SELECT count(*) FROM sqlite_master") < 0)
        return database_fail(d, "read it");
    if (sqlite3_db_readonly(d->db, "main") == 1)
        return say(d, HISTORY_ENVIRONMENT, "may only be read; expected a file that can be written\n---> %s",
                   advice(SQLITE_READONLY));
    if (!database_run(d, "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON") ||
        !database_run(d, "BEGIN IMMEDIATE"))
        return database_fail(d, "write to it");
    const enum history_status status = check_kind(d, true);
    if (status != HISTORY_OK) {
        database_run(d, "ROLLBACK");
        return status;
    }
    if (!database_run(d, "COMMIT") || !write_ahead(d))
        return database_fail(d, "write to it");
    return HISTORY_OK;
}

enum history_status database_open(struct database *d, const struct history *history, bool writes, char *error,
                                  size_t error_size)
{
    *d = (struct database){.path = history->path, .error = error, .error_size = error_size};
    enum history_status status = look(d, writes);
    if (status != HISTORY_OK)
        return status;
    char file[4096]; /* avoids names that are special to SQLite, such as ":memory:" */
    if (snprintf(file, sizeof file, "%s%s", history->path[0] == '/' ? "" : "./", history->path) >=
        (int)sizeof file)
        return say(d, HISTORY_INPUT,
                   "is too long; expected a path of at most %d bytes\n---> give a shorter one",
                   (int)sizeof file - 3);
    const int flags = writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE;
    int code = sqlite3_open_v2(file, &d->db, flags, NULL);
    if (code != SQLITE_OK && !writes) {
        sqlite3_close(d->db);
        code = sqlite3_open_v2(file, &d->db, SQLITE_OPEN_READONLY, NULL);
    }
    status = code == SQLITE_OK ? prepare(d, history, writes) : database_fail(d, "open it");
    if (status != HISTORY_OK)
        database_close(d);
    return status;
}

void database_close(struct database *d)
{
    sqlite3_close(d->db);
    d->db = NULL;
}
