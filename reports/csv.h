/* One line per configuration for spreadsheets; RFC 4180 quoting, a header, lines ended by \n. */
#ifndef UNSEEN_CSV_H
#define UNSEEN_CSV_H

#include "result.h"

/* Replaces `path` atomically (atomic.h). Returns 0, or -1 with a message. Times are in milliseconds; a
 * field that does not apply is empty; numbers that are not finite read nan, inf, -inf. */
int csv_write(const char *path, const struct result *result, char *error, size_t error_size);

#endif
