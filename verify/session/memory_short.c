/* Repeats a configuration that may have lacked memory, when no other `unseen` holds any (memory_gate.h). */
#include <math.h>
#include <stdio.h>

#include "worker.h"
#include "verify/device/other_processes.h"
#include "verify/sandbox/child_table.h"

/* If less than this part of a GPU's memory is free while a candidate runs, other processes may have caused
 * its lack of memory. */
static const double scarce = 0.25;
/* Most memory of its own that a candidate may use before it is to blame. Limits are a multiple of its tensors
 * and a part of all memory. Alone on a device, the largest configuration (task_caps) leaves twice its tensors
 * minus a few contexts. That is well above both limits, so no verdict depends on them. */
static const double fair_times = 1.5, fair_part = 0.1;

/* After this many refusals with no other process holding memory, a refusal is not caused by lack of memory.
 */
enum { REFUSALS = 3 };

void memory_give_back(struct worker *w, double bytes)
{
    static const double much = 1.0 / 32;
    if (w->options->device->backend == BACKEND_CUDA &&
        bytes > much * (double)w->options->device->memory_bytes) {
        worker_restart(w);
        guarded_end(w);
    }
}

static bool may_have_company(const struct worker *w)
{
    return other_processes_of(w->options->device, w->options->lease, child_count(), 0).state !=
           OTHER_PROCESSES_NONE;
}

/* May other processes have held the memory that a refused call lacked? An explicit lack of memory is retried
 * each time, other or unknown refusals only a few times. */
static bool is_memory_elsewhere(const struct worker *w)
{
    const bool little = w->shortage.least_free < scarce * (double)w->options->device->memory_bytes;
    return w->shortage.wanted ? little || may_have_company(w)
                              : little && w->shortage.refused_alone < REFUSALS;
}

bool memory_was_short(struct worker *w, struct retry *retry, const struct config_result *result)
{
    const bool elsewhere = result->outcome == OUTCOME_REFUSED && is_memory_elsewhere(w);
    const bool is_short = retry_again(retry, result, elsewhere ? RETRY_MEMORY_ELSEWHERE : RETRY_NO_FACTS);
    if (is_short)
        process_pool_never(w); /* waiting processes hold memory, too */
    return is_short;
}

bool memory_is_plenty(const struct worker *w)
{
    return (double)w->buffers->memory->available() >= fair_part * (double)w->options->device->memory_bytes;
}

void memory_settle(struct worker *w, struct config_result *result)
{
    const double fair =
        fmax(fair_times * result->bytes, fair_part * (double)w->options->device->memory_bytes);
    if (w->status->code != SESSION_OK || result->outcome != OUTCOME_REFUSED)
        return;
    w->shortage.refused_alone += !w->shortage.wanted;
    if (!w->shortage.wanted || w->shortage.free_bytes >= fair)
        return;
    session_skip(result, CAUSE_MEMORY);
    snprintf(result->detail, sizeof result->detail,
             "the candidate lacks memory: %.1f GB were left to it beside the judge's copies and what other "
             "programs hold",
             w->shortage.free_bytes / 1e9);
}
