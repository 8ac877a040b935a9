#include "observed.h"

#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/draw/move.h"
#include "gen/random/mix.h"

static void list_names(struct observed *o)
{
    const struct problem *const problem = o->space->problem;
    for (int i = 0; problem->axes[i].name && o->names < OBSERVED_NAMES; i++)
        if (domain_is_number(o->space, i)) {
            o->axis[o->names] = i;
            o->name[o->names++] = problem->axes[i].name;
        }
    o->axes = o->names;
    for (int i = 0; problem->derived && problem->derived[i].name && o->names < OBSERVED_NAMES; i++) {
        o->axis[o->names] = i;
        o->name[o->names++] = problem->derived[i].name;
    }
}

bool observed_open(struct observed *o, const struct branches *branches, const struct space *space)
{
    *o = (struct observed){.branches = branches, .space = space};
    o->comparison = calloc((size_t)branches->comparisons + 1, sizeof *o->comparison);
    if (!o->comparison)
        return false;
    list_names(o);
    for (int i = 0; i < branches->comparisons; i++) {
        struct observed_comparison *const to = &o->comparison[i];
        int found = 0;
        to->base = to->branch[0] = to->branch[1] = -1;
        for (int k = 0; k < branches->count && found < 2; k++)
            if (branches->branch[k].place == branches->comparison[i].place)
                to->branch[found++] = k;
    }
    return true;
}

void observed_close(struct observed *o)
{
    free(o->comparison);
    free(o->run);
    *o = (struct observed){.runs = 0};
}

/* A slot for one more sample: a uniform choice of all calls, which follows from their order alone. NULL:
 * none. */
static struct operand_sample *take_sample(struct observed_comparison *c)
{
    if (c->samples < OBSERVED_SAMPLES)
        return &c->sample[c->samples++];
    const uint64_t pick = mix64((uint64_t)c->reached) % (uint64_t)c->reached;
    return pick < OBSERVED_SAMPLES ? &c->sample[pick] : NULL;
}

static void add_sample(struct observed *o, struct observed_comparison *c, const struct coverage_point *point)
{
    c->reached++;
    if (c->base < 0)
        c->base = o->runs - 1;
    struct operand_sample *const to = take_sample(c);
    if (!to)
        return;
    to->run = o->runs - 1;
    for (int side = 0; side < 2; side++) {
        to->least[side] = coverage_value(~point->least[side]);
        to->most[side] = coverage_value(point->most[side]);
    }
}

static bool add_run(struct observed *o, const struct config *config, const struct clue *clue)
{
    if (o->runs == o->capacity) {
        const int capacity = o->capacity > 0 ? 2 * o->capacity : 64;
        struct observed_run *const run = realloc(o->run, (size_t)capacity * sizeof *run);
        if (!run)
            return false;
        o->run = run;
        o->capacity = capacity;
    }
    struct observed_run *const to = &o->run[o->runs++];
    memset(to, 0, sizeof *to);
    to->config = *config;
    if (clue)
        to->clue = *clue;
    return true;
}

int observed_add(struct observed *o, const struct tracing *tracing, const struct config *config,
                 const struct clue *clue)
{
    struct coverage_point point;
    int added = 0;
    if (!add_run(o, config, clue))
        return -1;
    for (int i = 0; i < o->branches->comparisons; i++) {
        struct observed_comparison *const c = &o->comparison[i];
        if (!tracing_point(tracing, o->branches->comparison[i].place, &point))
            continue;
        added += c->branch[0] < 0 && (point.relations & ~(uint32_t)c->relations) != 0;
        c->relations |= (int)point.relations & (COVERAGE_LESS | COVERAGE_EQUAL | COVERAGE_GREATER);
        add_sample(o, c, &point);
    }
    return added;
}
