/* One line per configuration for spreadsheets; RFC 4180 quoting, a header, lines ended by \n. */
#ifndef UNSEEN_CSV_H
#define UNSEEN_CSV_H

#include "result.h"

/* The first of the results. Times are in milliseconds; a field that does not apply is empty; numbers that are not finite read nan, inf, -inf. */
void csv_print(FILE *out, const struct result *const *results, int count);

#endif
