/* One finished run with something of everything, for the tests of the writers. */
#ifndef UNSEEN_TEST_REPORT_SAMPLE_H
#define UNSEEN_TEST_REPORT_SAMPLE_H

#include <check.h>

#include "reports/record/result.h"

extern struct result result;
extern struct config_result results[40];

/* Four seen that pass; unseen: 33 pass, one wrong, one crash, one skipped. */
void fill_result(void);

/* The same run with a value in every field, and a problem of two axes. */
void fill_full_result(void);

TCase *terminal_case(void);
TCase *temporaries_case(void);
TCase *brief_case(void);
TCase *json_read_case(void);
TCase *schema_case(void);
TCase *documents_case(void);
TCase *documents_map_case(void);
TCase *documents_sarif_case(void);
TCase *documents_trace_case(void);
TCase *documents_arena_case(void);

#endif
