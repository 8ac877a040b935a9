/* The JSON result: schema 1, one object. */
#ifndef UNSEEN_JSON_H
#define UNSEEN_JSON_H

#include "reports/record/result.h"

/* Replaces `path` atomically (atomic.h), so it may be called while the run goes on (result->partial). Returns
 * 0, or -1 with a message. Every key is always present. A value that does not apply is null as a whole
 * (`worst`, `time_ms`, `drop`, `retention`, `rule`). Numbers that are not finite are the strings "nan",
 * "inf", "-inf". Bytes that are not UTF-8 are replaced by '?'. */
int json_write(const char *path, const struct result *result, char *error, size_t error_size);

/* Returns the same document as text without a final newline, which the caller frees; NULL: out of memory. */
char *json_dump(const struct result *result);

/* Writes the result of `unseen check` or `unseen shrink` on one configuration. `run` describes the run and
 * its findings; its only result is the configuration as it ran. With run->diagnosis present (shrink) that
 * result is the initial failure, and the diagnosis has the simplest one. Errors as json_write. */
int json_write_one(const char *path, const struct result *run, bool passes, char *error, size_t error_size);

#endif
