/* --reward and --reward-table of verify: one line with a number and its reason. */
#ifndef UNSEEN_REWARD_H
#define UNSEEN_REWARD_H

#include "options.h"
#include "verify/score/scores.h"
#include "verify/session/task.h"

struct reward {
    enum score_name name; /* SCORE_NAMES: not requested */
    bool seen;            /* for the seen set */
    bool has_table;
    struct reward_table table;
};

/* Returns 0, or an exit status after printing an error: an unknown name, an unreadable table, or a score that
 * the options rule out. */
int reward_open(struct reward *reward, const struct options *options);

/* After drawing, before the candidate runs: checks that the set is not empty, and is timed if the score needs
 * times. Returns 0, or an exit status after printing an error. */
int reward_check_sets(const struct reward *reward, const struct task *task);

const struct reward_table *reward_table_of(const struct reward *reward); /* NULL: none */

/* Prints "0.8125 pass_rate: 26 of 32 unseen configurations pass"; the first word is a number, `none` or
 * `inconclusive`. */
void reward_print(FILE *out, const struct reward *reward, const struct result *result);
/* For a candidate that does not compile (REWARD_COMPILE), or a built object that does not load here
 * (REWARD_LOAD). */
void reward_print_unusable(FILE *out, const struct reward *reward, bool is_object);

/* Prints `inconclusive` and the error's first line: the machine could not build the candidate. */
void reward_print_broken(FILE *out, const struct reward *reward, const char *error);

/* For a run that could not be completed, by its cause: `none` for the settings, `inconclusive` for the
 * machine, a number for the candidate. */
void reward_print_given_up(FILE *out, const struct reward *reward, const struct result *result,
                           enum owner owner);

#endif
