/* The files that verify and report write: --json, --csv, --html, --junit, --markdown. */
#ifndef UNSEEN_OUTPUTS_H
#define UNSEEN_OUTPUTS_H

#include "options.h"
#include "reports/result.h"
#include "reports/writers.h"

struct outputs {
    const char *path[REPORT_COUNT]; /* NULL: not asked for */
    int held[REPORT_COUNT];         /* a pipe or a device that is kept open; -1: none */
    double written;                 /* when last, by clock_seconds */
    char error[512];                /* the first failure to write; empty: none */
};

/* Does one of them go to standard output? It is then a document, and people read standard error. */
bool outputs_on_standard(const struct options *options);

/* Refuse paths that would overwrite what the run reads, and two documents on standard output. Returns 0, or an exit status
 * after printing an error. */
int outputs_check(const struct options *options);

/* The same, and find out that nothing can be written there before minutes are spent: files are written as not started yet,
 * pipes and devices only opened, so that they get one document, the last. Returns 0, or an exit status after printing an error.
 */
int outputs_open(struct outputs *outputs, const struct options *options);

/* Write all; a failure is kept in outputs->error. Several results: JSON and CSV are of the first. */
void outputs_write(struct outputs *outputs, const struct result *const *results, int count);

/* JSON and CSV with the first `ready` results, marked as partial, when the last time was a while ago: what is
 * finished stays readable whatever happens to this process. */
void outputs_write_partial(struct outputs *outputs, const struct result *result, int ready, double start);

void outputs_close(struct outputs *outputs);

#endif
