/* Repeats a configuration that may have lacked memory, when no other `unseen` holds any (room.h). */
#include <math.h>
#include <stdio.h>

#include "session_internal.h"
#include "verify/device/neighbours.h"
#include "verify/isolate/child_table.h"

/* If less than this part of a GPU's memory is free while a candidate runs, other processes may have caused
 * its lack of memory. */
static const double scarce = 0.25;
/* Most memory of its own that a candidate may use before it is to blame. Limits are a multiple of its tensors
 * and a part of all memory. Alone on a device, the largest configuration (task_caps) leaves twice its tensors
 * minus a few contexts. That is well above both limits, so no verdict depends on them. */
static const double fair_times = 1.5, fair_part = 0.1;

void session_give_back(struct session *s, double bytes)
{
    static const double much = 1.0 / 32;
    if (s->options.device->backend == BACKEND_CUDA &&
        bytes > much * (double)s->options.device->memory_bytes) {
        session_restart(s);
        own_end(s);
    }
}

static bool may_have_company(const struct session *s)
{
    return neighbours_of(s->options.device, s->options.lease, child_count()).state != NEIGHBOURS_NONE;
}

static bool was_short(const struct session *s, const struct config_result *result)
{
    const bool little = s->least_free < scarce * (double)s->options.device->memory_bytes;
    if (result->outcome == OUTCOME_SKIPPED)
        return result->reason.cause == CAUSE_MEMORY;
    if (result->outcome != OUTCOME_REFUSED)
        return false;
    /* An explicit lack of memory is retried each time, other or unknown refusals only a few times. */
    return s->wanted_memory ? little || may_have_company(s) : little && s->refused_alone < SESSION_REFUSALS;
}

bool session_was_short(struct session *s, const struct config_result *result)
{
    const bool is_short = was_short(s, result);
    if (is_short)
        ahead_never(s); /* waiting processes hold memory, too */
    return is_short;
}

bool session_has_memory(const struct session *s)
{
    return (double)s->memory->available() >= fair_part * (double)s->options.device->memory_bytes;
}

void session_settle_alone(struct session *s, struct config_result *result)
{
    const double fair = fmax(fair_times * result->bytes, fair_part * (double)s->options.device->memory_bytes);
    if (s->status != SESSION_OK || result->outcome != OUTCOME_REFUSED)
        return;
    s->refused_alone += !s->wanted_memory;
    if (!s->wanted_memory || s->free_bytes >= fair)
        return;
    session_skip(result, CAUSE_MEMORY);
    snprintf(result->detail, sizeof result->detail,
             "the candidate lacks memory: %.1f GB were left to it beside the judge's copies and what other "
             "programs hold",
             s->free_bytes / 1e9);
}
