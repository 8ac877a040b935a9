/* After a configuration another that differs from it in one axis, in the same process. A plan, a graph or a table that is kept from call
 * to call under a key that leaves something out is right by itself, and for what its key tells apart; after its twin it is wrong.
 *
 * The twin is judged for nothing else: what fails alone, too, is a failure of that configuration and not of this one, and what does
 * not fail again in another process, after this one once more, is nobody's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/draw/move.h"
#include "gen/random/mix.h"
#include "gen/random/pcg.h"
#include "session_internal.h"
#include "verify/system/defence.h"

/* One configuration in so many has a twin: of an imported task fewer, whose right answers take longer than the calls. Who has failed so
 * often on twins that fail alone, too, has none any more: each costs a process or two. */
enum { ONE_IN = 4, ONE_IN_OF_TASKS = 12, IN_VAIN = 4 };

/* What differs in one axis: with tensors of the same shapes and another argument, which is what keys leave out, and all else. */
enum { ALIKE, OTHER, KINDS };
struct twins {
    struct {
        struct config item[64];
        int count;
    } of[KINDS];
    const struct session *s;
    const struct config *config;
    struct instance instance;
    struct call call; /* its arguments */
};

static bool is_wanted(const struct session *s, const struct config *config)
{
    const uint64_t one_in = s->options.problem->task ? ONE_IN_OF_TASKS : ONE_IN;
    return s->options.space && !s->twinless && s->twins_in_vain < IN_VAIN && s->child &&
           defence_is_on(DEFENCE_TWIN) && mix64(~config->seed) % one_in == 0;
}

static bool has_same_shapes(const struct twins *twins, const struct instance *other)
{
    bool same = true;
    for (int t = 0; t < twins->s->tensors && same; t++) {
        const struct instance_tensor *a = &twins->instance.tensor[t], *b = &other->tensor[t];
        same = a->rank == b->rank && instance_tensor_pitch(a) == instance_tensor_pitch(b) &&
               memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim) == 0;
    }
    return same;
}

static bool has_same_arguments(const struct twins *twins, const struct instance *other)
{
    struct call call = {0};
    session_arguments(twins->s, other, &call);
    return memcmp(call.argument, twins->call.argument, sizeof call.argument) == 0;
}

/* It may not take much longer than what it is the twin of. */
static bool is_affordable(const struct twins *twins, const struct instance *other)
{
    const struct problem *problem = twins->s->options.problem;
    static const double times = 2, spare = 1 << 20;
    return instance_total_bytes(problem, other) <=
               times * instance_total_bytes(problem, &twins->instance) + spare &&
           other->flops <= times * twins->instance.flops + spare;
}

static void consider(struct twins *twins, int axis, int64_t value)
{
    const struct space *space = twins->s->options.space;
    struct config config = *twins->config;
    struct space_error error;
    struct instance instance;
    if (value == config.value[axis] || !domain_contains(&space->domain[axis], value))
        return;
    config.value[axis] = value;
    if (!space_contains(space, &config, &error) || config_measure(&config, &instance) != 0)
        return;
    const int kind =
        has_same_shapes(twins, &instance) && !has_same_arguments(twins, &instance) ? ALIKE : OTHER;
    if (is_affordable(twins, &instance) &&
        twins->of[kind].count < (int)(sizeof twins->of[kind].item / sizeof *twins->of[kind].item))
        twins->of[kind].item[twins->of[kind].count++] = config;
    instance_clear(&instance);
}

static void consider_axis(struct twins *twins, int axis)
{
    const int64_t at = twins->config->value[axis];
    if (axis == problem_input_axis(twins->s->options.problem))
        return; /* other contents are no twins */
    if (twins->s->options.problem->axes[axis].kind == AXIS_CHOICE) {
        for (int64_t i = 0; problem_choice(twins->s->options.problem, axis, i); i++)
            consider(twins, axis, i);
        return;
    }
    const int64_t value[] = {at - 1, at + 1, at / 2, 2 * at};
    for (size_t i = 0; i < sizeof value / sizeof *value; i++)
        consider(twins, axis, value[i]);
}

/* False: it has none, or there is no memory. */
static bool choose(const struct session *s, const struct config *config, struct config *twin)
{
    struct twins *const twins = calloc(1, sizeof *twins);
    struct pcg *const random = pcg_new(config->seed, "twin");
    bool found = false;
    if (twins && random && config_measure(config, &twins->instance) == 0) {
        twins->s = s;
        twins->config = config;
        session_arguments(s, &twins->instance, &twins->call);
        for (int axis = 0; s->options.problem->axes[axis].name; axis++)
            consider_axis(twins, axis);
        const bool others =
            twins->of[ALIKE].count == 0 || (twins->of[OTHER].count > 0 && pcg_below(random, 4) == 0);
        const int kind = others ? OTHER : ALIKE, count = twins->of[kind].count;
        found = count > 0;
        if (found)
            *twin = twins->of[kind].item[pcg_below(random, (uint64_t)count)];
        instance_clear(&twins->instance);
    }
    pcg_free(random);
    free(twins);
    return found;
}

/* One call of a configuration in the process at hand, or in a new one. */
static bool fails(struct session *s, const struct config *config, bool fresh, struct config_result *result)
{
    if (fresh)
        session_restart(s);
    memset(result, 0, sizeof *result);
    result->config = *config;
    return session_check_first(s, config, result) == SESSION_OK && outcome_is_rejected(result->outcome) &&
           result->outcome != OUTCOME_REFUSED && result->outcome != OUTCOME_TIMEOUT &&
           result->reason.cause != CAUSE_KILLED;
}

/* What differs in words: "eps=large". */
static void name_axis(const struct problem *problem, const struct config *a, const struct config *b,
                      char *text, size_t size)
{
    *text = '\0';
    for (int axis = 0; problem->axes[axis].name; axis++) {
        if (a->value[axis] == b->value[axis])
            continue;
        if (problem->axes[axis].kind == AXIS_CHOICE)
            snprintf(text, size, "%s=%s", problem->axes[axis].name,
                     problem_choice(problem, axis, b->value[axis]));
        else
            snprintf(text, size, "%s=%lld", problem->axes[axis].name, (long long)b->value[axis]);
    }
}

static void report(const struct session *s, const struct config *config, const struct config *twin,
                   const struct config_result *found, struct config_result *result)
{
    char axis[64];
    name_axis(s->options.problem, config, twin, axis, sizeof axis);
    result->outcome = found->outcome;
    result->reason = found->reason;
    result->reason.stage = STAGE_TWIN;
    result->worst = found->worst;
    result->judged += found->judged;
    result->wrong += found->wrong;
    snprintf(result->detail, sizeof result->detail,
             "right with %s by itself, but not after this one in the same process: %.200s", axis,
             found->detail);
}

/* Does it fail after this one, each time, and not by itself? */
static bool is_of_the_process(struct session *s, const struct config *config, const struct config *twin,
                              struct config_result *found)
{
    struct config_result *const other = malloc(sizeof *other);
    bool is = false;
    if (other && fails(s, twin, true, other))
        s->twins_in_vain++;
    else if (other)
        is = !fails(s, config, true, other) && fails(s, twin, false, found);
    free(other);
    return is;
}

bool twin_check(struct session *s, const struct config *config, struct config_result *result)
{
    struct config twin;
    struct config_result *const found = malloc(sizeof *found);
    if (found && is_wanted(s, config) && choose(s, config, &twin) && fails(s, &twin, false, found) &&
        is_of_the_process(s, config, &twin, found))
        report(s, config, &twin, found, result);
    free(found);
    return s->status == SESSION_OK;
}
