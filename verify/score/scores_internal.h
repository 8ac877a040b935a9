/* Shared by the parts of scores: one set with its counts. */
#ifndef UNSEEN_SCORES_INTERNAL_H
#define UNSEEN_SCORES_INTERNAL_H

#include "scores.h"

/* A set, counted for the scores. All planned configurations count, also those that never ran. */
struct counted {
    const struct result *result;
    const struct reward_table *table; /* NULL: none */
    bool unseen;
    const char *word; /* "unseen" */
    bool denied;      /* the verdict is cheating or forbidden: nothing counts as passing */
    int planned;      /* configurations of the set */
    int timeable;     /* configurations that are not small ones (small ones are untimed) */
    int total;        /* planned and judged, without passing small ones, which have no speed */
    int found;        /* those in the record */
    int scouts;       /* passing small configurations; not counted in any number below */
    int unjudged; /* skipped because of the machine or the judge: not counted for or against the candidate */
    int left_out; /* not run because another configuration had failed (--fail-fast) */
    bool stopped; /* some configurations of either set were not run because of failures */
    bool cut;     /* some were not run for another reason */
    int passing;
    int failed;           /* judged and not passed */
    int timed, disturbed; /* among the passing ones */
    int compared;         /* those with a speedup */
    int worse;            /* passing ones for which the baseline does not pass */
    int baseline_passes;  /* among all that ran, regardless of the candidate */
    int baseline_fails;   /* the same without small configurations */
    struct score_quadrants quadrants;
};

struct counted scores_count(const struct result *result, bool unseen, const struct reward_table *table);

/* Directed configurations follow from the candidate's code, so that no two candidates have equally many. Each
 * that fails counts as one configuration more. All others are apart: no score counts them. */
bool scores_is_apart(const struct config_result *config);

/* Configuration i of the record if it is in the set and passes, else NULL. */
const struct config_result *scores_passing(const struct counted *c, int i);
bool scores_is_compared(const struct config_result *config);
double scores_speedup(const struct config_result *config);

/* Number of configurations of the set that should have been judged and do not pass. */
int scores_lacking(const struct counted *c);

bool scores_is_timed(const struct counted *c, enum score_name name);

/* Is the score unavailable for every candidate? Then *instead says why. */
bool scores_is_ruled_out(const struct counted *c, enum score_name name, struct score_value *instead);

/* requires a table, and settings that permit it */
struct score_value scores_of_table(const struct counted *c);

struct score_value scores_none(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct score_value scores_open(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct score_value scores_number(double value, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Do the times support a number? If not, returns false and fills *instead. `compared`: as speedups. `usable`
 * checks each time by itself, whatever the width of its interval. */
bool scores_times_usable(const struct counted *c, bool compared, struct score_value *instead);
bool scores_times_serve(const struct counted *c, bool compared, struct score_value *instead);

#endif
