/* Which scores are available, as far as the settings decide. */
#include "scores_internal.h"

bool scores_is_timed(const struct counted *c, enum score_name name)
{
    return name == SCORE_TABLE ? reward_table_is_timed(c->table) : score_traits(name)->timed;
}

static bool compares(const struct counted *c, enum score_name name)
{
    return name == SCORE_TABLE ? reward_table_compares(c->table) : score_traits(name)->compares;
}

/* These scores have no mean if a speedup is missing; the published points then add none. */
static bool needs_every_speedup(const struct counted *c, enum score_name name)
{
    return name == SCORE_AKA_BOUNDED || name == SCORE_SOL || (name == SCORE_TABLE && compares(c, name));
}

static bool knows_peaks(const struct counted *c, enum score_name name)
{
    const struct peaks *const peaks = &c->result->peaks;
    if (name == SCORE_SOL)
        return peaks->bandwidth_gbps > 0 && peaks->tflops > 0;
    return name != SCORE_PEAK_FRACTION ||
           (c->result->memory_bound ? peaks->bandwidth_gbps : peaks->tflops) > 0;
}

/* Decides by options, sets, baseline and device, equally for every candidate. A score that only some
 * candidates have would rank them by its presence. */
bool scores_is_ruled_out(const struct counted *c, enum score_name name, struct score_value *instead)
{
    if (c->planned == 0 && c->found == 0)
        *instead = scores_none("the %s set is empty", c->word);
    else if (name == SCORE_TABLE && !c->table)
        *instead = scores_none("no table: --reward-table FILE");
    else if (compares(c, name) && !c->result->scores.compared)
        *instead = scores_none("no baseline: --baseline FILE, or --baseline own");
    else if (scores_is_timed(c, name) && c->result->no_timing)
        *instead = scores_none("no times were taken: --no-timing");
    else if (scores_is_timed(c, name) && c->timeable <= 0)
        *instead = scores_none("the %s set holds scouts only: none of them is timed", c->word);
    else if (!knows_peaks(c, name))
        *instead = scores_none("the hardware's ceilings are not known");
    else if (needs_every_speedup(c, name) && c->baseline_fails > 0)
        *instead = scores_none("the baseline fails on %d %s configurations: no speedup there",
                               c->baseline_fails, c->word);
    else if (name == SCORE_CONDITIONAL && c->baseline_passes == 0 && !c->cut)
        *instead = scores_none("the baseline passes on no %s configuration", c->word);
    else
        return false;
    return true;
}
