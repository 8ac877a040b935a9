#include <string.h>

#include "invoke.h"
#include "runner_internal.h"
#include "verify/util/clock.h"
#include "verify/util/defence.h"
#include "verify/util/flush.h"

static struct invocation invocation; /* not on the stack, where an overrun of a local array could reach it */

bool call_prepare(const struct request *request, void *stream)
{
    invoke_begin(&invocation, runner.candidate);
    for (uint32_t i = 0; i < request->tensors; i++)
        invoke_pointer(&invocation,
                       runner.slot[request->set * CHANNEL_TENSORS + i].base + request->offset[i]);
    for (uint32_t i = 0; i < request->arguments; i++)
        invoke_argument(&invocation, &request->argument[i]);
    invoke_pointer(&invocation, stream);
    return invoke_ready(&invocation);
}

int call_candidate(void)
{
    launches_listen(true);
    const int returned = runner.python ? python_call() : invoke_call(&invocation);
    launches_listen(false);
    return returned;
}

double call_clock_ms(void)
{
    return clock_seconds() * 1e3;
}

/* Every call starts with the tensors in memory and in no cache. */
static void flush_tensors(const struct request *request)
{
    for (uint32_t i = 0; i < request->tensors; i++) {
        const struct slot *slot = &runner.slot[request->set * CHANNEL_TENSORS + i];
        flush_memory(slot->base, slot->mapped);
    }
}

void call_host(const struct request *request, struct reply *reply)
{
    if (defence_is_on(DEFENCE_FLUSH))
        flush_tensors(request);
    const double start = call_clock_ms();
    reply->value = call_candidate();
    const double end = runner.python ? python_ended_ms() : call_clock_ms();
    reply->event_ms = reply->wall_ms = end - start;
    reply->kind = REPLY_RETURNED;
}
