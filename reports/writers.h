/* The reports that go to files, by one table. */
#ifndef UNSEEN_WRITERS_H
#define UNSEEN_WRITERS_H

#include "result.h"

enum report_kind { REPORT_JSON, REPORT_CSV, REPORT_HTML, REPORT_JUNIT, REPORT_MARKDOWN, REPORT_COUNT };

const char *report_option(enum report_kind kind); /* "json" */
const char *report_words(enum report_kind kind);  /* "JSON result" */

/* Replaces `path` (atomic.h) with the report of `count` results of one problem, at least 1; JSON and CSV are of the first alone.
 * Returns 0, or -1 with a message. */
int report_write(enum report_kind kind, const char *path, const struct result *const *results, int count,
                 char *error, size_t error_size);

#endif
