/* Seconds that a run waits for timeouts once one has repeated alone, and the time limit of each further
 * configuration. It counts limits and measures nothing, so that the load of a machine does not choose the
 * configurations that run. */
#ifndef UNSEEN_TIMEOUT_BUDGET_H
#define UNSEEN_TIMEOUT_BUDGET_H

#include <stdbool.h>

#include "gen/draw/draw.h"

struct timeout_budget {
    double seconds; /* for all timeouts, at least for the two of the first configuration */
    double limit;   /* time limit of a configuration's slowest call */
    double brief;   /* the same once half of the budget is spent */
    double spent;
    int timeouts;  /* configurations that did not end within `limit` */
    int cut;       /* configurations that did not end within `brief`: these are skipped */
    bool begun;    /* a call has timed out alone */
    bool loading;  /* so has loading, which every configuration needs */
    bool answered; /* a configuration has ended in time */
};

/* Seconds for the timeouts of a run: a constant of the effort, and at most a third of --budget. */
double timeout_budget_seconds(enum effort effort);

struct timeout_budget timeout_budget_open(double seconds, double limit, bool may_shorten);

/* Time limit of the next configuration. */
double timeout_budget_limit(const struct timeout_budget *budget);

/* Records a timeout that repeated alone. */
void timeout_budget_begin(struct timeout_budget *budget, bool loading);
/* Records one that was not repeated. Returns whether the whole limit was waited for, so that it counts. */
bool timeout_budget_wait(struct timeout_budget *budget, double limit);

/* Returns whether nothing more may run. */
bool timeout_budget_is_over(const struct timeout_budget *budget);

/* Why a configuration did not run, after timeout_budget_is_over. */
void timeout_budget_explain(const struct timeout_budget *budget, char *text, size_t size);

/* One line for the report; `unrun`: the number of configurations that did not run. */
void timeout_budget_summary(const struct timeout_budget *budget, int unrun, char *text, size_t size);

#endif
