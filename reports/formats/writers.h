/* The reports that go to files. A format is its own file and one row of the table in writers.c: options, help
 * and completion follow. */
#ifndef UNSEEN_WRITERS_H
#define UNSEEN_WRITERS_H

#include "reports/record/result.h"

enum report_kind {
    REPORT_JSON,
    REPORT_CSV,
    REPORT_HTML,
    REPORT_JUNIT,
    REPORT_MARKDOWN,
    REPORT_SARIF,
    REPORT_TRACE,
    REPORT_COUNT
};

const char *report_option(enum report_kind kind);   /* "json" */
const char *report_words(enum report_kind kind);    /* "JSON result" */
const char *report_help(enum report_kind kind);     /* one line of --help */
const char *report_commands(enum report_kind kind); /* the commands that write it, each between blanks */

/* Replaces `path` (atomic.h) with the report of `count` results of one problem, at least 1. JSON and CSV hold
 * the first result alone. Returns 0, or -1 with a message. */
int report_write(enum report_kind kind, const char *path, const struct result *const *results, int count,
                 char *error, size_t error_size);

#endif
