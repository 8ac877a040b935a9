/* After a configuration another that differs from it in one axis or two, in the same process. A plan, a graph or a table that is kept from call
 * to call under a key that leaves something out is right by itself, and for what its key tells apart; after its twin it is wrong.
 *
 * A model of an imported task that was constructed for the first serves the twin as well, where it is constructed of the same: as whoever
 * has one model calls it with batches of several sizes. What it keeps for itself of a shape shows there.
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
#include "verify/task/task.h"

/* One configuration in so many has a twin. Who has failed so often on twins that fail alone, too, has none any more: each costs a
 * process or two. */
enum { ONE_IN = 4, IN_VAIN = 4 };

/* With tensors of the same shapes and another argument, which is what keys leave out: what differs in one axis, or in two that make up for
 * each other (padding and dilation of a convolution); and all else that differs in one. Of a task those of which one model serves both
 * are likely, too. */
enum { ALIKE, PAIR, OTHER, KINDS };
enum { MOST = 64, MOST_MOVES = 160 };
struct move_to {
    int axis;
    int64_t value;
};
struct twins {
    struct {
        struct config item[MOST]; /* of `count`, drawn */
        int count;
    } of[KINDS];
    struct move_to move[MOST_MOVES]; /* without other inputs */
    int moves;
    const struct session *s;
    const struct config *config;
    struct pcg *random;
    struct instance instance;
    struct call call; /* its arguments */
};

/* Is a model that is constructed for one constructed for the other, too? */
static bool is_of_one_model(const struct problem *problem, const struct config *a, const struct config *b)
{
    bool same = problem->task != NULL;
    for (int axis = 0; problem->axes[axis].name && same; axis++)
        same = a->value[axis] == b->value[axis] || imported_ring(problem->task, axis) == 1;
    return same;
}

static bool is_wanted(const struct session *s, const struct config *config)
{
    return s->options.space && !s->twinless && s->twins_in_vain < IN_VAIN && s->child &&
           defence_is_on(DEFENCE_TWIN) && mix64(~config->seed) % ONE_IN == 0;
}

/* Beside large tensors a model and what it keeps would hold what others need. */
bool twin_wants_model(const struct session *s, const struct config *config, double bytes)
{
    enum { PART_OF_DEVICE = 32 };
    return s->options.problem->task && is_wanted(s, config) &&
           PART_OF_DEVICE * bytes <= (double)s->options.device->memory_bytes;
}

/* Of the first tensors. */
static bool has_same_shapes(const struct twins *twins, const struct instance *other, int tensors)
{
    bool same = true;
    for (int t = 0; t < tensors && same; t++) {
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

static void keep(struct twins *twins, int kind, const struct config *config)
{
    const int count = twins->of[kind].count++;
    const int at = count < MOST ? count : (int)pcg_below(twins->random, (uint64_t)count + 1);
    if (at < MOST)
        twins->of[kind].item[at] = *config;
}

/* False: not in the contract, or no memory; *instance is to be cleared otherwise. */
static bool measure(const struct twins *twins, const struct config *config, struct instance *instance)
{
    struct space_error error;
    return space_contains(twins->s->options.space, config, &error) && config_measure(config, instance) == 0;
}

static void consider(struct twins *twins, int axis, int64_t value)
{
    struct config config = *twins->config;
    struct instance instance;
    if (value == config.value[axis] || !domain_contains(&twins->s->options.space->domain[axis], value))
        return;
    config.value[axis] = value;
    const bool measured = measure(twins, &config, &instance);
    if (measured && is_affordable(twins, &instance)) {
        const bool alike =
            has_same_shapes(twins, &instance, twins->s->tensors) && !has_same_arguments(twins, &instance);
        const bool one_model = is_of_one_model(twins->s->options.problem, twins->config, &config);
        keep(twins, alike || one_model ? ALIKE : OTHER, &config);
    }
    if (twins->moves < MOST_MOVES &&
        (!measured || has_same_shapes(twins, &instance, problem_first_output(twins->s->options.problem))))
        twins->move[twins->moves++] = (struct move_to){axis, value};
    if (measured)
        instance_clear(&instance);
}

/* Numbers near the one that is there, and half and twice of it; no value twice. */
static void consider_number(struct twins *twins, int axis)
{
    enum { NEAR = 4 };
    const int64_t at = twins->config->value[axis];
    for (int64_t d = -NEAR; d <= NEAR; d++)
        consider(twins, axis, at + d);
    const int64_t far[] = {at / 2, 2 * at};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++)
        if (far[i] < at - NEAR || far[i] > at + NEAR)
            consider(twins, axis, far[i]);
}

static void consider_axis(struct twins *twins, int axis)
{
    if (axis == problem_input_axis(twins->s->options.problem))
        return; /* other contents are no twins */
    if (twins->s->options.problem->axes[axis].kind != AXIS_CHOICE) {
        consider_number(twins, axis);
        return;
    }
    for (int64_t i = 0; problem_choice(twins->s->options.problem, axis, i); i++)
        consider(twins, axis, i);
}

static void consider_pair(struct twins *twins, const struct move_to *a, const struct move_to *b)
{
    struct config config = *twins->config;
    struct instance instance;
    config.value[a->axis] = a->value;
    config.value[b->axis] = b->value;
    if (a->axis == b->axis || !measure(twins, &config, &instance))
        return;
    if (has_same_shapes(twins, &instance, twins->s->tensors) && !has_same_arguments(twins, &instance) &&
        is_affordable(twins, &instance))
        keep(twins, PAIR, &config);
    instance_clear(&instance);
}

/* Less of everything that one model takes: what it keeps of the greater one is left over on every side. False: there is none. */
static bool choose_less(const struct twins *twins, struct config *twin)
{
    enum { NEAR = 4, ONE_IN_HALVES = 3 };
    const struct problem *problem = twins->s->options.problem;
    struct instance instance;
    *twin = *twins->config;
    for (int axis = 0; problem->axes[axis].name; axis++) {
        const int64_t less = pcg_below(twins->random, ONE_IN_HALVES) == 0
                                 ? twin->value[axis] / 2
                                 : twin->value[axis] - 1 - (int64_t)pcg_below(twins->random, NEAR);
        if (imported_ring(problem->task, axis) == 1 &&
            domain_contains(&twins->s->options.space->domain[axis], less))
            twin->value[axis] = less;
    }
    if (config_same_point(twin, twins->config) || !measure(twins, twin, &instance))
        return false;
    instance_clear(&instance);
    return true;
}

static int choose_kind(const struct twins *twins)
{
    const bool other = twins->of[OTHER].count > 0 && pcg_below(twins->random, 4) == 0;
    const bool pair = twins->of[PAIR].count > 0 && pcg_below(twins->random, 2) == 0;
    const bool alike = twins->of[ALIKE].count + twins->of[PAIR].count > 0;
    if (!alike || other)
        return OTHER;
    return pair || twins->of[ALIKE].count == 0 ? PAIR : ALIKE;
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
        twins->random = random;
        session_arguments(s, &twins->instance, &twins->call);
        for (int axis = 0; s->options.problem->axes[axis].name; axis++)
            consider_axis(twins, axis);
        for (int i = 0; i < twins->moves; i++)
            for (int j = i + 1; j < twins->moves; j++)
                consider_pair(twins, &twins->move[i], &twins->move[j]);
        const int kind = choose_kind(twins), count = twins->of[kind].count;
        const bool less = s->options.problem->task && pcg_below(random, 2) == 0 && choose_less(twins, twin);
        found = less || count > 0;
        if (found && !less)
            *twin = twins->of[kind].item[pcg_below(random, (uint64_t)(count < MOST ? count : MOST))];
        instance_clear(&twins->instance);
    }
    pcg_free(random);
    free(twins);
    return found;
}

/* One call of a configuration in the process at hand, or in a new one, whose model is to serve the next. */
static bool fails(struct session *s, const struct config *config, bool fresh, struct config_result *result)
{
    if (fresh)
        session_restart(s);
    memset(result, 0, sizeof *result);
    result->config = *config;
    s->keeps_model = fresh;
    return session_check_first(s, config, result) == SESSION_OK && outcome_is_rejected(result->outcome) &&
           result->outcome != OUTCOME_REFUSED && result->outcome != OUTCOME_TIMEOUT &&
           result->reason.cause != CAUSE_KILLED;
}

/* What differs in words: "eps=large", "pad_h=2 dil_h=2". */
static void name_axes(const struct problem *problem, const struct config *a, const struct config *b,
                      char *text, size_t size)
{
    size_t length = 0;
    *text = '\0';
    for (int axis = 0; problem->axes[axis].name && length < size; axis++) {
        const char *const gap = length > 0 ? " " : "", *const name = problem->axes[axis].name;
        if (a->value[axis] == b->value[axis])
            continue;
        if (problem->axes[axis].kind == AXIS_CHOICE)
            length += (size_t)snprintf(text + length, size - length, "%s%s=%s", gap, name,
                                       problem_choice(problem, axis, b->value[axis]));
        else
            length += (size_t)snprintf(text + length, size - length, "%s%s=%lld", gap, name,
                                       (long long)b->value[axis]);
    }
}

static void report(const struct session *s, const struct config *config, const struct config *twin,
                   const struct config_result *found, struct config_result *result)
{
    char axes[96];
    name_axes(s->options.problem, config, twin, axes, sizeof axes);
    result->outcome = found->outcome;
    result->reason = found->reason;
    result->reason.stage = STAGE_TWIN;
    result->worst = found->worst;
    result->judged += found->judged;
    result->wrong += found->wrong;
    snprintf(result->detail, sizeof result->detail,
             "right with %s by itself, but not after this one %s: %.200s", axes,
             is_of_one_model(s->options.problem, config, twin) ? "by the same model" : "in the same process",
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

/* What may have been kept for a twin goes. */
static void forget_model(struct session *s)
{
    char text[RESULT_DETAIL_SIZE];
    if (s->options.problem->task && s->child &&
        child_unmap(s->child, CHANNEL_EVERY_SET, text, sizeof text) != CHILD_OK)
        session_restart(s);
}

bool twin_check(struct session *s, const struct config *config, struct config_result *result)
{
    struct config twin;
    struct config_result *const found = malloc(sizeof *found);
    if (found && is_wanted(s, config) && choose(s, config, &twin) && fails(s, &twin, false, found) &&
        is_of_the_process(s, config, &twin, found))
        report(s, config, &twin, found, result);
    forget_model(s);
    free(found);
    return s->status == SESSION_OK;
}
