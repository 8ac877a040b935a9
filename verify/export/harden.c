#include "harden.h"

#include <stdlib.h>
#include <string.h>

#include "harden_cover.h"

bool harden_is_rejected(const char *marks)
{
    return strchr(marks, TRIAL_REJECTED) != NULL;
}

bool harden_is_shown(const struct trial_row *row)
{
    return strpbrk(row->seen_published, "01") || strpbrk(row->drawn_hardened, "01");
}

static bool is_killed(const struct hardened *h, const struct trial_row *row, int place)
{
    return row->drawn_hardened[h->chosen[place]] == TRIAL_REJECTED;
}

bool harden_kills(const struct hardened *h, const struct trial_row *row)
{
    for (int i = 0; i < h->count; i++)
        if (is_killed(h, row, i))
            return true;
    return false;
}

bool harden_is_fresh(const struct hardened *h, const struct trial_row *row, int place)
{
    for (int i = 0; i < place; i++)
        if (is_killed(h, row, i))
            return false;
    return is_killed(h, row, place);
}

struct harden_counts harden_count(const struct hardened *h, bool nulls)
{
    struct harden_counts counts = {0};
    for (int i = 0; i < h->trial->rows; i++) {
        const struct trial_row *row = &h->trial->row[i];
        if (row->is_null != nulls)
            continue;
        counts.all++;
        counts.shown += harden_is_shown(row);
        counts.published += harden_is_rejected(row->seen_published);
        counts.ours += harden_is_rejected(row->seen_ours);
        counts.list += harden_kills(h, row);
        counts.any += harden_is_rejected(row->drawn_hardened);
    }
    return counts;
}

int harden_choose(struct hardened *out, const struct trial *trial)
{
    const int candidates = trial->drawn.count;
    bool *kills = calloc((size_t)candidates * (size_t)trial->rows + 1, sizeof *kills);
    double *cost = calloc((size_t)candidates + 1, sizeof *cost);
    out->trial = trial;
    out->count = -1;
    if (kills && cost) {
        for (int c = 0; c < candidates; c++) {
            cost[c] = trial->drawn.item[c].cost;
            for (int r = 0; r < trial->rows; r++)
                kills[(long)c * trial->rows + r] = trial->row[r].drawn_hardened[c] == TRIAL_REJECTED;
        }
        const struct covering covering = {kills, cost, candidates, trial->rows};
        out->count = cover_choose(&covering, HARDEN_MOST, out->chosen, out->fresh);
    }
    free(kills);
    free(cost);
    return out->count < 0 ? -1 : 0;
}
