/* Time limit of the whole run: --budget. */
#ifndef UNSEEN_BUDGET_H
#define UNSEEN_BUDGET_H

#include <stdbool.h>

/* Starts the budget; 0: there is none, as before the first call. Call it before there are threads. */
void budget_begin(double seconds);
double budget_seconds(void); /* the whole budget; infinity without one */
double budget_left(void);    /* at least 0; infinity without a budget */
bool budget_is_over(void);

#endif
