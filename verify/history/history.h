/* Verdicts over time: one database, which any number of runs write to at once. A run has a row from its start, so that one
 * that was killed shows; all else of it comes in one transaction at its end. No connection is open in between.
 *
 * Errors say what was found, what was expected and, after "--->", what to do. HISTORY_INPUT: the file is another thing than a
 * history; HISTORY_ENVIRONMENT: it cannot be read or written now. */
#ifndef UNSEEN_HISTORY_H
#define UNSEEN_HISTORY_H

#include "reports/result.h"

enum history_status { HISTORY_OK, HISTORY_INPUT, HISTORY_ENVIRONMENT };

enum { HISTORY_VERSION = 1, HISTORY_TOKEN = 33 };

/* A database by its path. */
struct history {
    const char *path;
    int busy_ms; /* how long another's transaction is waited for; 0: a minute */
};

/* --- writing; seconds are UTC, since 1970 --- */

/* A row for a run that begins: problem, candidate, device, seed, version of `result`. `token` will name it. The file is made
 * where there is none. What was left unfinished by a process that is gone becomes `interrupted`. */
enum history_status history_begin(const struct history *history, const struct result *result, int64_t now,
                                  char token[HISTORY_TOKEN], char *error, size_t error_size);

/* All of it. Where the row is gone, with its file or without, it is made anew; a second call changes nothing. */
enum history_status history_finish(const struct history *history, const char *token,
                                   const struct result *result, int64_t now, char *error, size_t error_size);

/* A run that a stored result tells of, dated `when`; *known: it was there already, and nothing changed. */
enum history_status history_import(const struct history *history, const struct result *result, int64_t when,
                                   bool *known, char *error, size_t error_size);

/* --- reading --- */

struct history_set {
    int configs, pass; /* -1: not known, of a run that did not end */
    double ms;         /* geometric mean of the passing configurations' medians; 0: no times */
    double fraction;   /* likewise of what is attainable; 0: no times */
    double score;      /* NaN: no number */
};

struct history_config {
    char *line, *outcome, *baseline_outcome;           /* the last: NULL where it was not judged */
    bool unseen, trusted;                              /* trusted: nobody else was on the device */
    double ms, low_ms, high_ms, baseline_ms, fraction; /* 0: no time */
};

struct history_run {
    int64_t id, started, finished; /* finished: 0 before it has */
    char *state;                   /* "unfinished", "interrupted", "finished" */
    char *problem, *candidate, *sha256, *device, *version, *git, *verdict, *partial, *rule, *minimal,
        *baseline;
    uint64_t seed;
    struct history_set seen, unseen;
    double drop, retention, seconds; /* drop: points; NaN: none */
    struct history_config *config;
    int configs;
};

struct history_runs {
    struct history_run *run; /* newest first */
    int count;
};

/* Runs of a problem, of a candidate (its path, the last part of it, or six or more digits of its SHA-256), or of all with
 * `word` NULL. */
enum history_status history_read(const struct history *history, const char *word, struct history_runs *runs,
                                 char *error, size_t error_size);
void history_runs_clear(struct history_runs *runs);

/* --- showing; NULL: out of memory; the caller frees --- */

char *history_json(const struct history_runs *runs);

/* Times, or what is attained of the hardware, and drops, over runs that have them. NULL with a text: there is nothing to
 * draw, or runs of more than one problem. */
char *history_plot(const struct history_runs *runs, char *error, size_t error_size);

void history_print(FILE *out, const struct history_runs *runs);

#endif
