#include "harden_cover.h"

#include <stdlib.h>
#include <string.h>

static bool kills(const struct covering *c, int candidate, int target)
{
    return c->kills[(long)candidate * c->targets + target];
}

/* Number of targets that it kills and no chosen configuration kills. */
static int gain_of(const struct covering *c, int candidate, const bool *dead)
{
    int gain = 0;
    for (int t = 0; t < c->targets; t++)
        gain += !dead[t] && kills(c, candidate, t);
    return gain;
}

/* Returns the next choice; -1: none kills a further target. */
static int next_one(const struct covering *c, const bool *dead, int *gain)
{
    int best = 0, found = -1;
    for (int i = 0; i < c->candidates; i++) {
        gain[i] = gain_of(c, i, dead);
        best = gain[i] > best ? gain[i] : best;
    }
    for (int i = 0; best > 0 && i < c->candidates; i++)
        if (gain[i] * 10 >= best * 9 && gain[i] > 0 && (found < 0 || c->cost[i] < c->cost[found]))
            found = i;
    return found;
}

static void bury(const struct covering *c, int candidate, bool *dead)
{
    for (int t = 0; t < c->targets; t++)
        dead[t] = dead[t] || kills(c, candidate, t);
}

/* Does another chosen configuration kill every target that it kills? */
static bool is_idle(const struct covering *c, const int *chosen, int count, int which)
{
    for (int t = 0; t < c->targets; t++) {
        bool other = !kills(c, chosen[which], t);
        for (int i = 0; i < count && !other; i++)
            other = i != which && kills(c, chosen[i], t);
        if (!other)
            return false;
    }
    return true;
}

static int drop_idle(const struct covering *c, int *chosen, int count)
{
    for (int i = 0; i < count;) { /* the most expensive comes first */
        if (is_idle(c, chosen, count, i)) {
            memmove(&chosen[i], &chosen[i + 1], (size_t)(count - i - 1) * sizeof *chosen);
            count--;
        } else
            i++;
    }
    return count;
}

/* Sorts by cost: for `sign` 1 cheapest first; ties keep their order. */
static void sort(const struct covering *c, int *chosen, int count, int sign)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && sign * (c->cost[chosen[j - 1]] - c->cost[chosen[j]]) > 0; j--) {
            const int held = chosen[j];
            chosen[j] = chosen[j - 1];
            chosen[j - 1] = held;
        }
}

int cover_choose(const struct covering *c, int most, int *chosen, int *fresh)
{
    bool *dead = calloc((size_t)c->targets + 1, sizeof *dead);
    int *gain = calloc((size_t)c->candidates + 1, sizeof *gain), count = 0;
    if (!dead || !gain) {
        free(dead);
        free(gain);
        return -1;
    }
    for (int next; count < most && (next = next_one(c, dead, gain)) >= 0; count++) {
        chosen[count] = next;
        bury(c, next, dead);
    }
    sort(c, chosen, count, -1);
    count = drop_idle(c, chosen, count);
    sort(c, chosen, count, 1);
    memset(dead, 0, (size_t)c->targets * sizeof *dead);
    for (int i = 0; i < count; i++) {
        fresh[i] = gain_of(c, chosen[i], dead);
        bury(c, chosen[i], dead);
    }
    free(dead);
    free(gain);
    return count;
}
