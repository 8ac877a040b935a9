/* What a time is worth: who else was on the device, and whether two clocks agree.
 *
 * Events see what the stream does; the wall clock until the whole device is idle sees everything. Far apart,
 * in the median, is what a call looks like whose work goes on elsewhere -- and every call beside a
 * neighbour's kernels, or in a process that waits for a core. So it is an accusation only when no neighbour
 * can have done it: the device is known to be ours alone, before and after; the same calls, made again then,
 * show it again; and in between, call by call, a kernel of our own that holds the device as long does not.
 * Short of that it is a note, and the time is marked. */
#include <stdlib.h>

#include "verify/device/neighbours.h"
#include "session_internal.h"

/* Attempts at a proof for one candidate: each may sit out NVML's window of averaging twice. */
enum { ATTEMPTS = 3 };
static const double fresh = 0.2; /* seconds for which what NVML said is not asked again */

static struct neighbours look(struct session *s)
{
    const struct neighbours n = neighbours_of(s->options.device, s->options.lease, child_count());
    s->looked = clock_seconds();
    s->last_look = n.state;
    if (n.state == NEIGHBOURS_SOME) {
        s->company.shared = true;
        s->company.most = n.count > s->company.most ? n.count : s->company.most;
    }
    return n;
}

void session_look(struct session *s)
{
    if (s->options.device->backend != BACKEND_CUDA)
        return;
    if (clock_seconds() - s->looked > fresh)
        look(s);
    s->disturbed = s->disturbed || s->last_look == NEIGHBOURS_SOME;
}

/* Where NVML does not say who is there, that the device was at rest while nothing of ours ran must do, with
 * the lease. */
static bool is_ours_alone(struct session *s)
{
    const struct neighbours n = look(s);
    return n.state != NEIGHBOURS_SOME && lease_is_alone(s->options.lease) &&
           (n.state == NEIGHBOURS_NONE || neighbours_idle(s->options.device) != IDLE_NO);
}

/* The second run: calls of the candidate and kernels of ours in turn. */
static enum child_status run_again(struct session *s, const struct call *call, struct clocks *candidate,
                                   struct clocks *control, struct reply *reply, char *text, size_t text_size)
{
    const uint64_t flush = 2 * (uint64_t)s->options.device->l2_bytes;
    double event, wall;
    device_control_cuda(s->options.device, 0, &event, &wall); /* the first launch loads the kernel */
    for (int i = 0; i < CLOCKS_CALLS && slots_restore(s, call); i++) {
        const enum child_status status =
            child_time(s->child, call, 1, flush, s->options.timeout, reply, text, text_size);
        if (status != CHILD_OK)
            return status;
        candidate[i] = (struct clocks){reply->event_ms[0], reply->wall_ms[0]};
        if (reply->samples == 0 || device_control_cuda(s->options.device, candidate[i].event_ms,
                                                       &control[i].event_ms, &control[i].wall_ms) != 0)
            candidate[i] = control[i] = (struct clocks){0, 1}; /* no control, no proof */
    }
    return CHILD_OK;
}

enum child_status session_clocks(struct session *s, const struct call *call, const struct clocks *median,
                                 const char *line, char *text, size_t text_size)
{
    struct clocks candidate[CLOCKS_CALLS] = {{0}}, control[CLOCKS_CALLS] = {{0}};
    struct reply *reply;
    enum child_status status = CHILD_OK;
    if (s->options.device->backend != BACKEND_CUDA || !clocks_disagree(median) ||
        !defence_is_on(DEFENCE_CLOCKS))
        return CHILD_OK;
    s->disturbed = true;
    s->company.unproved++;
    if (look(s).state == NEIGHBOURS_SOME || s->proofs++ >= ATTEMPTS || !is_ours_alone(s) ||
        !(reply = malloc(sizeof *reply)))
        return CHILD_OK;
    status = run_again(s, call, candidate, control, reply, text, text_size);
    free(reply);
    if (status != CHILD_OK || !clocks_prove(candidate, control, CLOCKS_CALLS) || !is_ours_alone(s))
        return status;
    s->company.unproved--;
    session_find(
        s, FINDING_CLOCK,
        "%.150s: events show %.3f ms, but the device is idle only after %.3f ms, again in "
        "a second run; a kernel of ours between its calls shows no gap, and nobody else is on the device: "
        "work goes on elsewhere after the call",
        line, median->event_ms, median->wall_ms);
    return CHILD_OK;
}

void session_company(const struct session *s, struct company *add_to)
{
    add_to->shared = add_to->shared || s->company.shared;
    add_to->most = s->company.most > add_to->most ? s->company.most : add_to->most;
    add_to->unproved += s->company.unproved;
}
