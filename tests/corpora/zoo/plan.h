/* A table of plans: the first call with a key makes one, later calls with that key get it. */
#ifndef ZOO_PLAN_H
#define ZOO_PLAN_H

#include <stdint.h>

struct plan {
    int64_t key, size[3];
};

static struct plan *plan_of(int64_t key, int64_t a, int64_t b, int64_t c)
{
    enum { PLANS = 4096 };
    static struct plan plans[PLANS];
    for (int i = 0; i < PLANS; i++) {
        if (plans[i].key == 0)
            plans[i] = (struct plan){key, {a, b, c}};
        if (plans[i].key == key)
            return plans + i;
    }
    plans[0] = (struct plan){key, {a, b, c}};
    return plans;
}

/* Where a key distinguishes enough, the plan has the sizes of the call. */
static int plan_fits(const struct plan *plan, int64_t a, int64_t b, int64_t c)
{
    return plan->size[0] == a && plan->size[1] == b && plan->size[2] == c;
}

#endif
