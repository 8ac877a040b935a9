/* After a configuration, checks its sibling (sibling.h) in the same process. A plan, a graph or a table that
 * is cached under a key
 * that both share is right by itself, and wrong after the other.
 *
 * The model of an imported task is reused for the sibling if its constructor gets the same arguments. Models
 * are called with batches of several sizes, and that exposes state that depends on a shape.
 *
 * The sibling check looks for nothing else. A failure that the sibling has by itself does not count here, nor
 * does one that does not repeat in another process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/draw/move.h"
#include "gen/random/mix.h"
#include "gen/random/pcg.h"
#include "expected_values.h"
#include "pair.h"
#include "session_internal.h"
#include "sibling.h"
#include "verify/util/defence.h"
#include "verify/torch/task.h"

/* One configuration in four has a sibling, and every very cheap one. If siblings have failed alone or timed
 * out several times, the check stops: each such failure costs a process or two. */
enum { ONE_IN = 4, IN_VAIN = 4 };
static const double small_bytes = 1 << 17, small_flops = 1e6;

static bool may_have_twin(const struct worker *w)
{
    return w->options->space && !w->past.siblings_off && w->past.siblings_in_vain < IN_VAIN && w->child &&
           defence_is_on(DEFENCE_TWIN);
}

/* A module may compile for each shape, and a task evaluates its graph. */
static bool is_cheap(const struct session_options *options, const struct config_result *result)
{
    return !options->python && !options->problem->task && result->bytes <= small_bytes &&
           result->flops <= small_flops;
}

static bool is_in_turn(const struct config *config)
{
    return mix64(~config->seed) % ONE_IN == 0;
}

/* Beside large tensors a kept model and its state would use memory that others need. */
bool sibling_wants_model(const struct worker *w, const struct config *config, double bytes)
{
    enum { PART_OF_DEVICE = 32 };
    return w->options->problem->task && may_have_twin(w) && is_in_turn(config) &&
           PART_OF_DEVICE * bytes <= (double)w->options->device->memory_bytes;
}

/* Chooses a sibling that is smaller in everything the same model accepts, so that all stale state of the
 * larger one exceeds it. False: there is none. */
static bool choose_less(const struct session_options *options, const struct config *config,
                        struct pcg *random, struct config *twin)
{
    enum { NEAR = 4, ONE_IN_HALVES = 3 };
    const struct problem *problem = options->problem;
    *twin = *config;
    for (int axis = 0; problem->axes[axis].name; axis++) {
        const int64_t less = pcg_below(random, ONE_IN_HALVES) == 0
                                 ? twin->value[axis] / 2
                                 : twin->value[axis] - 1 - (int64_t)pcg_below(random, NEAR);
        if (imported_ring(problem->task, axis) == 1 && domain_contains(&options->space->domain[axis], less))
            twin->value[axis] = less;
    }
    return !config_same_point(twin, config) && space_contains(options->space, twin, NULL);
}

/* For a task, a sibling that the same model serves is likely. False: there is none, or out of memory. */
static bool choose(const struct session_options *options, const struct config *config, struct config *twin)
{
    enum { OTHER_ONE_IN = 4 };
    struct pcg *const random = pcg_new(config->seed, "twin of a task");
    const bool task = options->problem->task != NULL;
    bool found = random && task && pcg_below(random, 2) == 0 && choose_less(options, config, random, twin);
    const bool kin = random && task && pcg_below(random, OTHER_ONE_IN) != 0;
    found = found || (kin && sibling_choose(options, config, &sibling_any, true, 0, twin)) ||
            sibling_choose(options, config, &sibling_any, false, 0, twin);
    pcg_free(random);
    return found;
}

void pair_record(const struct problem *problem, const struct config *config, const struct config *after,
                 struct result_pair *pair)
{
    *pair = (struct result_pair){.present = true, .config = *config, .after = *after};
    config_format(config, pair->line, sizeof pair->line);
    config_format(after, pair->after_line, sizeof pair->after_line);
    sibling_relation(problem, config, after, pair->relation);
}

static void report(const struct problem *problem, const struct config *config, const struct config *twin,
                   const struct config_result *found, struct config_result *result)
{
    char axes[96], before[96];
    pair_record(problem, twin, config, &result->pair);
    sibling_axes(problem, twin, config, axes, sizeof axes);
    sibling_axes(problem, config, twin, before, sizeof before);
    result->outcome = found->outcome;
    result->reason = found->reason;
    result->reason.stage = STAGE_TWIN;
    result->worst = found->worst;
    result->judged += found->judged;
    result->wrong += found->wrong;
    snprintf(result->detail, sizeof result->detail,
             "%s after %.60s (%.50s): right with %.60s by itself, but not after this one %s: %.60s",
             outcome_name(found->outcome), before, result->pair.relation, axes,
             sibling_is_kin(problem, config, twin) ? "by the same model" : "in the same process",
             found->detail);
}

/* Does it fail each time after this configuration, and not by itself? */
static bool is_of_the_process(struct session *s, const struct config *config, const struct config *twin,
                              struct config_result *found)
{
    const int times = retry_times(RETRY_STEP_SIBLING);
    struct config_result *const other = malloc(sizeof *other);
    bool alone = false;
    for (int i = 0; other && i < times && !alone; i++)
        alone = pair_call_fails(s, twin, true, other);
    s->worker.past.siblings_in_vain += alone;
    const bool is = other && !alone && pair_fails_after(s, twin, config, times, found) &&
                    expected_admits(&s->judge, config, twin);
    free(other);
    return is;
}

/* Discards a model that may have been kept for a sibling. */
static void forget_model(struct worker *w)
{
    char text[RESULT_DETAIL_SIZE];
    if (w->options->problem->task && w->child &&
        child_unmap(w->child, CHANNEL_EVERY_SET, text, sizeof text) != CHILD_OK)
        worker_restart(w);
}

bool sibling_check(struct session *s, const struct config *config, struct config_result *result)
{
    struct config twin;
    struct config_result *const found = malloc(sizeof *found);
    const bool wanted = may_have_twin(&s->worker) && (is_in_turn(config) || is_cheap(&s->options, result));
    const bool chosen = found && wanted && choose(&s->options, config, &twin);
    if (chosen && pair_call_fails(s, &twin, false, found) && is_of_the_process(s, config, &twin, found))
        report(s->options.problem, config, &twin, found, result);
    s->worker.past.siblings_in_vain += chosen && found->outcome == OUTCOME_TIMEOUT;
    s->worker.past.pairs += result->pair.present;
    forget_model(&s->worker);
    free(found);
    return s->status.code == SESSION_OK;
}
