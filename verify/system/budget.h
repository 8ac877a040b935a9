/* How long the whole of what was asked for may take: --budget. */
#ifndef UNSEEN_BUDGET_H
#define UNSEEN_BUDGET_H

#include <stdbool.h>

void budget_begin(
    double seconds);         /* from now on, once, before there are threads; never: there is no budget */
double budget_seconds(void); /* the whole; infinity without one */
double budget_left(void);    /* never below 0; infinity without one */
bool budget_is_over(void);

#endif
