/* CSV for spreadsheets: a header and one line per configuration, RFC 4180 quoting, lines ended by \n. */
#ifndef UNSEEN_CSV_H
#define UNSEEN_CSV_H

#include "reports/record/result.h"

/* Prints the first of the results. Times are in milliseconds. A field that does not apply is empty. Numbers
 * that are not finite read nan, inf, -inf. */
void csv_print(FILE *out, const struct result *const *results, int count);

#endif
