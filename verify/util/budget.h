/* Time limit of the whole run: --budget. */
#ifndef UNSEEN_BUDGET_H
#define UNSEEN_BUDGET_H

#include <stdbool.h>

void budget_begin(
    /* starts the budget; call it once, before there are threads. Without a call there is no budget */
    double seconds);
double budget_seconds(void); /* the whole budget; infinity without one */
double budget_left(void);    /* at least 0; infinity without a budget */
bool budget_is_over(void);

#endif
