/* A user-defined table of rewards (doc/formats.md): the value of each outcome of a configuration, and how the
 * configurations' rewards are combined. */
#ifndef UNSEEN_REWARD_TABLE_H
#define UNSEEN_REWARD_TABLE_H

#include "reports/record/result.h"

/* Further events that may have a value, besides the outcomes. */
enum reward_event {
    REWARD_COMPILE = OUTCOME_COUNT, /* the candidate does not compile */
    REWARD_LOAD,                    /* it crashed while it was loaded */
    REWARD_CHEATING,                /* the verdict is cheating or forbidden */
    REWARD_MISSING,                 /* planned, but not in the record */
    REWARD_EVENTS
};

enum reward_quantity { REWARD_CONSTANT, REWARD_SPEEDUP, REWARD_LOG2_SPEEDUP, REWARD_FRACTION };
enum reward_over { REWARD_MEAN, REWARD_MEDIAN, REWARD_LEAST };

enum { REWARD_STEPS = 16 };

/* A passing configuration is worth offset + factor * quantity. If its speedup is above some of the steps, it
 * is worth the value of the highest such step instead. */
struct reward_table {
    double value[REWARD_EVENTS]; /* for each event other than a pass */
    double offset, factor;
    enum reward_quantity quantity;
    struct {
        double above, value;
    } step[REWARD_STEPS];
    int steps;
    enum reward_over over;
};

/* Returns 0, or -1 with FILE:LINE, what was found and what was expected. A constant value of a pass below
 * that of some failure is an error. */
int reward_table_read(const char *path, struct reward_table *table, char *error, size_t error_size);

bool reward_table_compares(const struct reward_table *table); /* does it need speedups? */
bool reward_table_is_timed(const struct reward_table *table);

/* The largest value of a configuration that does not pass. */
double reward_table_failure(const struct reward_table *table);

/* The least value of a passing configuration, however slow; never below reward_table_failure. */
double reward_table_least(const struct reward_table *table);

/* The value of a passing configuration; never below reward_table_failure. Quantities that the table does not
 * use may have any value. */
double reward_table_pass(const struct reward_table *table, double speedup, double fraction);

/* Combines `count` (at least 1) rewards into one; sorts them. */
double reward_table_over(const struct reward_table *table, double *reward, int count);

#endif
