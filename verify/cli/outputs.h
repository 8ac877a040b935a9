/* Output files of verify and report: --json, --csv, --html, --junit, --markdown. */
#ifndef UNSEEN_OUTPUTS_H
#define UNSEEN_OUTPUTS_H

#include "options.h"
#include "reports/record/result.h"
#include "reports/formats/writers.h"

struct outputs {
    const char *path[REPORT_COUNT]; /* NULL: not requested */
    int held[REPORT_COUNT];         /* descriptor of a pipe or a device that is kept open; -1: none */
    double written;                 /* time of the last write, by clock_seconds */
    char error[512];                /* the first write error; empty: none */
};

/* Does one of them go to standard output? Then messages for people go to standard error. */
bool outputs_on_standard(const struct options *options);

/* Rejects paths that would overwrite an input of the run, and two documents on standard output. Returns 0, or
 * an exit status after printing an error. */
int outputs_check(const struct options *options);

/* The same, and detects unwritable paths before minutes are spent. Files are written with a result that has
 * not started. Pipes and devices are only opened, so that they get only the final document. Returns 0, or an
 * exit status after printing an error. */
int outputs_open(struct outputs *outputs, const struct options *options);

/* Writes all files; an error is kept in outputs->error. With several results, JSON and CSV contain the
 * first. */
void outputs_write(struct outputs *outputs, const struct result *const *results, int count);

/* Writes JSON and CSV with the first `ready` results, marked as partial, if the last write was a while ago.
 * So finished results stay readable if this process dies. */
void outputs_write_partial(struct outputs *outputs, const struct result *result, int ready, double start);

void outputs_close(struct outputs *outputs);

#endif
