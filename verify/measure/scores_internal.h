/* What the parts of scores share: one set, counted. */
#ifndef UNSEEN_SCORES_INTERNAL_H
#define UNSEEN_SCORES_INTERNAL_H

#include "scores.h"

/* A set as the scores see it. All that was planned counts, also what never ran. */
struct counted {
    const struct result *result;
    const struct reward_table *table; /* NULL: none */
    bool unseen;
    const char *word; /* "unseen" */
    bool denied;      /* the verdict is cheating or forbidden: nothing passes */
    int planned;      /* all of the set */
    int timeable;     /* of them, those that are no scouts */
    int total;        /* planned and judged, without scouts that pass: they have no speed */
    int found;        /* in the record */
    int scouts;       /* that pass; they are in none of the numbers below */
    int unjudged;     /* skipped by the machine's or the judge's doing: they count for nobody */
    int left_out;     /* not run because another one had failed (--fail-fast) */
    bool stopped;     /* of either set some were not run, because of failures */
    bool cut;         /* some were not run for another reason */
    int passing;
    int failed;           /* judged and not passed */
    int timed, disturbed; /* of those that pass */
    int compared;         /* have a speedup */
    int worse;            /* of those that pass: the baseline does not */
    int baseline_passes;  /* of all that ran; the candidate has no part in it */
    int baseline_fails;   /* the same without scouts */
    struct score_quadrants quadrants;
};

struct counted scores_count(const struct result *result, bool unseen, const struct reward_table *table);

/* The i-th configuration of the record, where it is in the set and passes, else NULL. */
const struct config_result *scores_passing(const struct counted *c, int i);
bool scores_is_compared(const struct config_result *config);
double scores_speedup(const struct config_result *config);

/* Configurations of the set that were judged, or should have been, and do not pass. */
int scores_lacking(const struct counted *c);

bool scores_is_timed(const struct counted *c, enum score_name name);

/* Is there no such score, whatever the candidate does? Then *instead says why. */
bool scores_is_ruled_out(const struct counted *c, enum score_name name, struct score_value *instead);

struct score_value scores_of_table(const struct counted *c); /* there is one, and the settings permit it */

struct score_value scores_none(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct score_value scores_open(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct score_value scores_number(double value, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Do the times carry a number? Otherwise false and *instead. `compared`: as speedups. `usable`: each by itself, however wide
 * its interval. */
bool scores_times_usable(const struct counted *c, bool compared, struct score_value *instead);
bool scores_times_serve(const struct counted *c, bool compared, struct score_value *instead);

#endif
