/* A rule as one sentence, for every report. */
#ifndef UNSEEN_RULE_TEXT_H
#define UNSEEN_RULE_TEXT_H

#include "result.h"

enum { RULE_TEXT_SIZE = 1024 };

/* "two_sided", "necessary", "partial" */
const char *rule_kind_name(enum rule_kind kind);

/* "wrong whenever k % 64 != 0 (..)", "every failure has cols % 2 == 1 (41 of 41); ..", "no rule: ..", with
 * the counts that support it. The lines of unexplained failures are not included. */
void rule_text(char text[RULE_TEXT_SIZE], const struct diagnosis *d);

/* The same for one kind of failure among several: "raised ValueError (line 12) whenever k > 64 (..); 7
 * failures", "wrong: no rule: ..; 3 failures". */
void rule_text_kind(char text[RULE_TEXT_SIZE], const struct result_kind *kind);

/* The rule of a slowdown, `ratio` times on average: "slower by 1.31 whenever cols % 4 != 0 (..)". The rule
 * must be present. */
void rule_text_slower(char text[RULE_TEXT_SIZE], const struct rule *rule, double ratio);

#endif
