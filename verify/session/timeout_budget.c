#include "timeout_budget.h"

#include <math.h>
#include <stdio.h>

#include "verify/util/budget.h"

/* If nothing but timeouts was seen, more of them would show nothing new. */
enum { NOTHING_ELSE = 4 };

double timeout_budget_seconds(enum effort effort)
{
    static const double seconds[] = {
        [EFFORT_QUICK] = 60, [EFFORT_STANDARD] = 120, [EFFORT_DEEP] = 300, [EFFORT_REWARD] = 20};
    return fmin(seconds[effort], budget_seconds() / 3);
}

/* Nearly all calls take far less than a twentieth of their limit. */
struct timeout_budget timeout_budget_open(double seconds, double limit, bool may_shorten)
{
    static const double part = 0.05, least = 0.5;
    const double brief = may_shorten ? fmin(limit, fmax(part * limit, least)) : limit;
    return (struct timeout_budget){.seconds = fmax(seconds, 2 * limit), .limit = limit, .brief = brief};
}

double timeout_budget_limit(const struct timeout_budget *b)
{
    return !b->begun || b->spent + b->limit <= b->seconds / 2 ? b->limit : b->brief;
}

void timeout_budget_begin(struct timeout_budget *b, bool loading)
{
    b->spent += 2 * b->limit;
    b->timeouts++;
    b->begun = true;
    b->loading = b->loading || loading;
}

bool timeout_budget_wait(struct timeout_budget *b, double limit)
{
    const bool whole = limit >= b->limit;
    b->spent += limit;
    b->timeouts += whole;
    b->cut += !whole;
    return whole;
}

bool timeout_budget_is_over(const struct timeout_budget *b)
{
    return b->begun && (b->loading || b->spent + timeout_budget_limit(b) > b->seconds ||
                        (!b->answered && b->timeouts + b->cut >= NOTHING_ELSE));
}

void timeout_budget_explain(const struct timeout_budget *b, char *text, size_t size)
{
    if (b->loading)
        snprintf(text, size, "not run: another had already timed out twice, the second time alone");
    else if (!b->answered)
        snprintf(text, size, "not run: %d others had already timed out, and none had ended in time",
                 b->timeouts + b->cut);
    else
        snprintf(text, size, "not run: the %.3g s for timeouts were spent", b->seconds);
}

void timeout_budget_summary(const struct timeout_budget *b, int unrun, char *text, size_t size)
{
    char cut[64] = "", rest[64] = "";
    if (b->cut > 0)
        snprintf(cut, sizeof cut, ", %d more did not end within %.3g s", b->cut, b->brief);
    if (unrun > 0)
        snprintf(rest, sizeof rest, "; %d configuration%s did not run", unrun, unrun == 1 ? "" : "s");
    snprintf(text, size, "%d configuration%s timed out%s; %.3g of %.3g s for timeouts were spent%s",
             b->timeouts, b->timeouts == 1 ? "" : "s", cut, b->spent, b->seconds, rest);
}
