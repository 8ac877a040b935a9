#include "budget.h"

#include <math.h>

#include "clock.h"

static double begun, whole = INFINITY;

void budget_begin(double seconds)
{
    begun = clock_seconds();
    whole = seconds > 0 ? seconds : INFINITY;
}

double budget_seconds(void)
{
    return whole;
}

double budget_left(void)
{
    return isinf(whole) ? INFINITY : fmax(0, begun + whole - clock_seconds());
}

bool budget_is_over(void)
{
    return !isinf(whole) && budget_left() <= 0;
}
