/* A table of rewards that the user gives as a file (doc/formats.md): what each outcome of a configuration is worth, and how
 * the configurations' rewards become one. */
#ifndef UNSEEN_REWARD_TABLE_H
#define UNSEEN_REWARD_TABLE_H

#include "reports/result.h"

/* What may be worth something beside the outcomes. */
enum reward_event {
    REWARD_COMPILE = OUTCOME_COUNT, /* the candidate does not compile */
    REWARD_LOAD,                    /* it crashed while it was loaded */
    REWARD_CHEATING,                /* the verdict is cheating or forbidden */
    REWARD_MISSING,                 /* planned, and not in the record */
    REWARD_EVENTS
};

enum reward_quantity { REWARD_CONSTANT, REWARD_SPEEDUP, REWARD_LOG2_SPEEDUP, REWARD_FRACTION };
enum reward_over { REWARD_MEAN, REWARD_MEDIAN, REWARD_LEAST };

enum { REWARD_STEPS = 16 };

/* One that passes is worth offset + factor * quantity, or, where steps are given and its speedup is above some of them, the
 * value of the greatest of those. */
struct reward_table {
    double value[REWARD_EVENTS]; /* of what does not pass */
    double offset, factor;
    enum reward_quantity quantity;
    struct {
        double above, value;
    } step[REWARD_STEPS];
    int steps;
    enum reward_over over;
};

/* 0, or -1 with FILE:LINE, what was found and what was expected. A constant worth of a pass below that of some failure is
 * refused: the table would be upside down. */
int reward_table_read(const char *path, struct reward_table *table, char *error, size_t error_size);

bool reward_table_compares(const struct reward_table *table); /* does it need speedups? */
bool reward_table_is_timed(const struct reward_table *table);

/* The most that a configuration is worth which does not pass. */
double reward_table_failure(const struct reward_table *table);

/* The least that one is worth which passes, however slow; never below reward_table_failure. */
double reward_table_least(const struct reward_table *table);

/* Of a configuration that passes, never below reward_table_failure. The quantities that the table does not need may be anything. */
double reward_table_pass(const struct reward_table *table, double speedup, double fraction);

/* The one reward of `count` (at least 1) of them, which are sorted on the way. */
double reward_table_over(const struct reward_table *table, double *reward, int count);

#endif
