/* Shared by the files of the gen suite. */
#ifndef UNSEEN_TEST_GEN_H
#define UNSEEN_TEST_GEN_H

#include <check.h>

#include "gen/contract/space.h"

TCase *gen_draw_case(void);
TCase *gen_contract_case(void); /* test_draw.c */
TCase *gen_cover_case(void);
TCase *gen_novelty_case(void);
TCase *gen_parts_case(void);    /* test_draw_parts.c */
TCase *gen_order_case(void);    /* test_draw_order.c */
TCase *gen_scouts_case(void);   /* test_draw_scouts.c */
TCase *gen_directed_case(void); /* test_draw_directed.c */
TCase *gen_pairs_case(void);    /* test_draw_pairs.c */
TCase *gen_list_case(void);     /* test_config_list.c */

/* Each fails the test where it cannot do its work. */
struct space good_space(const char *problem, const char *text); /* from a file: test_space.c */
const char *write_file(const char *text);                       /* its path; the caller unlinks it */

/* --- gen_fixture.c --- */
struct space published_space(const char *problem);                                /* shapes/PROBLEM.space */
struct config_list published_seen(const struct space *space, const char *suffix); /* ".seen" */
struct config parse(const char *problem, const char *line);
void expect_contains(const char *text, const char *part);

#endif
