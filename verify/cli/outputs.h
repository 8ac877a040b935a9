/* The files that verify writes: --json and --csv, while the run goes on and at its end. */
#ifndef UNSEEN_OUTPUTS_H
#define UNSEEN_OUTPUTS_H

#include "reports/result.h"
#include "options.h"
#include "verify/history/history.h"

struct outputs {
    const char *json, *csv;    /* NULL: not asked for */
    const char *db;            /* --db; NULL: none */
    char token[HISTORY_TOKEN]; /* of the run's row there; empty: none yet */
    double written;            /* when last, by clock_seconds */
    char error[512];           /* the first failure to write; empty: none */
};

/* Refuse paths that would overwrite what the run reads. Returns 0, or an exit status after printing an
 * error. */
int outputs_check(const struct options *options);

/* The same, and find out that nothing can be written there
 * before minutes are spent. Returns 0, or an exit status after printing an error. */
int outputs_open(struct outputs *outputs, const struct options *options);

/* A row for the run that begins, where --db asks for it. Returns 0, or an exit status after printing an error. */
int outputs_begin(struct outputs *outputs, const struct result *result);

/* The row's rest, at the run's end; a failure is kept in outputs->error. */
void outputs_finish(struct outputs *outputs, const struct result *result);

/* Write both files; a failure is kept in outputs->error. */
void outputs_write(struct outputs *outputs, const struct result *result);

/* The same with the first `ready` results, marked as partial, when the last time was a while ago: what is
 * finished stays readable whatever happens to this process. */
void outputs_write_partial(struct outputs *outputs, const struct result *result, int ready, double start);

#endif
