/* A small run, whose scores can be worked out by hand. */
#ifndef UNSEEN_TEST_SCORES_RECORD_H
#define UNSEEN_TEST_SCORES_RECORD_H

#include <check.h>

#include "verify/score/scores.h"

enum { CONFIGS = 5 };
extern struct config_result configs[CONFIGS];
extern struct result record;

/* Two seen ones pass, at 2 and 4 times the baseline's speed. Two of six unseen ones pass, at 2 and 1/2 times;
 * the third is wrong, and three never ran. T_SOL is 1 ms throughout, every fraction a quarter. */
void fill_record(void);
void fill_scores(const struct reward_table *table);

const struct score_value *unseen_score(enum score_name name);
void expect_score(const struct score_value *score, double value);

void reward_table_tests(TCase *tcase);
void scores_upright_tests(TCase *tcase);

#endif
