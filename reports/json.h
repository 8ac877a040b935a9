/* The machine-readable result: schema 1, one object. */
#ifndef UNSEEN_JSON_H
#define UNSEEN_JSON_H

#include "result.h"

/* Replaces `path` atomically (atomic.h), so it may be called while the run goes on (result->partial).
 * Returns 0, or -1 with a message. Every key is always present; what does not apply is null as a whole
 * (`worst`, `time_ms`, `drop`, `retention`, `rule`); numbers that are not finite are the strings "nan",
 * "inf", "-inf"; text that is not UTF-8 has its foreign bytes replaced by '?'. */
int json_write(const char *path, const struct result *result, char *error, size_t error_size);

/* The same as text without a last newline, which the caller frees; NULL: out of memory. */
char *json_dump(const struct result *result);

/* What `unseen check` and `unseen shrink` found of one configuration. `run` says what was run on what, with its findings; its only
 * result is the configuration as it ran. Where run->diagnosis is present (shrink) that is the failure to begin with, and
 * the diagnosis has the simplest one. As json_write. */
int json_write_one(const char *path, const struct result *run, bool passes, char *error, size_t error_size);

#endif
