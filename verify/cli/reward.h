/* What --reward and --reward-table ask of verify: one line with one number and its reason. */
#ifndef UNSEEN_REWARD_H
#define UNSEEN_REWARD_H

#include "options.h"
#include "verify/measure/scores.h"
#include "verify/session/task.h"

struct reward {
    enum score_name name; /* SCORE_NAMES: none is asked for */
    bool seen;            /* of the seen set */
    bool has_table;
    struct reward_table table;
};

/* Returns 0, or an exit status after printing an error: an unknown name, a table that cannot be read, and what the options
 * already rule out. */
int reward_open(struct reward *reward, const struct options *options);

/* After drawing, before the candidate runs: is the set empty, or never timed where times are asked for? 0, or an exit status
 * after printing an error. */
int reward_check_sets(const struct reward *reward, const struct task *task);

const struct reward_table *reward_table_of(const struct reward *reward); /* NULL: none */

/* "0.8125 pass_rate: 26 of 32 unseen configurations pass"; the first word is a number, `none` or `inconclusive`. */
void reward_print(FILE *out, const struct reward *reward, const struct result *result);
/* For a candidate that does not compile, or that is a built object which does not load here: REWARD_COMPILE, REWARD_LOAD. */
void reward_print_unusable(FILE *out, const struct reward *reward, bool is_object);

/* `inconclusive` and the error's first line: the machine could not build the candidate. */
void reward_print_broken(FILE *out, const struct reward *reward, const char *error);

/* Of a run that came to no end, by whose doing that is: `none` of the settings', `inconclusive` of the machine's, of the
 * candidate's a number. */
void reward_print_given_up(FILE *out, const struct reward *reward, const struct result *result,
                           enum owner owner);

#endif
