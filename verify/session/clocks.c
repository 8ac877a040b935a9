#include "clocks.h"

/* Number of the CLOCKS_CALLS calls that must show the difference. */
enum { LEAST_APART = 11 };

bool clocks_disagree(const struct clocks *c)
{
    return c->wall_ms > 1.5 * c->event_ms + 0.25;
}

bool clocks_prove(const struct clocks *candidate, const struct clocks *control, int count)
{
    int apart = 0;
    for (int i = 0; i < count; i++) {
        if (clocks_disagree(&control[i]))
            return false;
        apart += clocks_disagree(&candidate[i]);
    }
    return count >= CLOCKS_CALLS && apart >= count - (CLOCKS_CALLS - LEAST_APART);
}
