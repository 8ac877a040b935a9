/* Verdicts over time: one database, to which any number of runs write at once. A run has a row from its
 * start, so that a
 * killed run is visible; its result is added in one transaction at its end. No connection is open in between.
 *
 * Errors say what was found, what was expected and, after "--->", what to do. HISTORY_INPUT: the file is no
 * history; HISTORY_ENVIRONMENT: it cannot be read or written now. */
#ifndef UNSEEN_HISTORY_H
#define UNSEEN_HISTORY_H

#include "reports/record/result.h"

enum history_status { HISTORY_OK, HISTORY_INPUT, HISTORY_ENVIRONMENT };

enum { HISTORY_VERSION = 1, HISTORY_TOKEN = 33 };

/* A database, by its path. */
struct history {
    const char *path;
    int busy_ms; /* how long to wait for another process's transaction; 0: a minute */
};

/* --- writing; times are in seconds since 1970, UTC --- */

/* Adds a row for a run that begins: problem, candidate, device, seed, version of `result`. `token` identifies
 * it later. Creates the file if needed. Unfinished rows of dead processes become `interrupted`. */
enum history_status history_begin(const struct history *history, const struct result *result, int64_t now,
                                  char token[HISTORY_TOKEN], char *error, size_t error_size);

/* Stores the complete result. Recreates the row, or the file, if it is gone; a second call changes
 * nothing. */
enum history_status history_finish(const struct history *history, const char *token,
                                   const struct result *result, int64_t now, char *error, size_t error_size);

/* Imports a stored result, dated `when`; *known: it was already there, and nothing changed. */
enum history_status history_import(const struct history *history, const struct result *result, int64_t when,
                                   bool *known, char *error, size_t error_size);

/* --- reading --- */

struct history_set {
    int configs, pass; /* -1: unknown, for a run that did not end */
    double ms;         /* geometric mean of the passing configurations' medians; 0: no times */
    double fraction;   /* the same of the fraction of the attainable rate; 0: no times */
    double score;      /* NaN: no score */
};

struct history_config {
    char *line, *outcome, *baseline_outcome;           /* the last is NULL if the baseline was not judged */
    bool unseen, trusted;                              /* trusted: no other process used the device */
    double ms, low_ms, high_ms, baseline_ms, fraction; /* 0: no time */
};

struct history_run {
    int64_t id, started, finished; /* finished: 0 before its end */
    char *state;                   /* "unfinished", "interrupted", "finished" */
    char *problem, *candidate, *sha256, *device, *version, *git, *verdict, *partial, *rule, *minimal,
        *baseline;
    uint64_t seed;
    struct history_set seen, unseen;
    double drop, retention, seconds; /* drop: percentage points; NaN: none */
    struct history_config *config;
    int configs;
};

struct history_runs {
    struct history_run *run; /* newest first */
    int count;
};

/* Reads the runs of a problem, or of a candidate (its path, the last part of it, or at least six digits of
 * its SHA-256). `word` NULL: all runs. */
enum history_status history_read(const struct history *history, const char *word, struct history_runs *runs,
                                 char *error, size_t error_size);
void history_runs_clear(struct history_runs *runs);

/* --- showing; NULL: out of memory; the caller frees the text --- */

char *history_json(const struct history_runs *runs);

/* Plots times, or fractions of the attainable rate, and drops, over the runs that have them. NULL with a
 * text: there is nothing to plot, or the runs are of several problems. */
char *history_plot(const struct history_runs *runs, char *error, size_t error_size);

void history_print(FILE *out, const struct history_runs *runs);

#endif
