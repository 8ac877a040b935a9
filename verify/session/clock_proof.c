/* Proof by two clocks that work continues after a call.
 *
 * Events measure the stream; the wall clock, until the whole device is idle, measures everything. A large
 * difference of the medians shows a call whose work continues elsewhere. But it also occurs beside a
 * neighbour's kernels, or in a process that waits for a core. So it is evidence only if no neighbour can be
 * the cause. The device must be known to be ours alone before and after. The same calls, repeated, must show
 * the difference again. Interleaved kernels of our own that occupy the device as long must not. Otherwise it
 * is a note, and the time is marked. */
#include "verify/device/other_processes.h"
#include "proof.h"
#include "series.h"

/* Attempts at a proof for one candidate; each may wait for NVML's averaging window twice. */
enum { ATTEMPTS = 3 };

/* If NVML does not list processes, the device must have been idle while ours did nothing, and the lease must
 * be held alone. */
static bool is_ours_alone(struct session *s)
{
    const struct other_processes n = evidence_neighbours(&s->evidence, s->options.device, s->options.lease);
    return n.state != OTHER_PROCESSES_SOME && lease_is_alone(s->options.lease) &&
           (n.state == OTHER_PROCESSES_NONE || other_processes_idle(s->options.device) != IDLE_NO);
}

/* Repeats the calls, interleaved with kernels of ours. False: the series is over. */
static bool run_again(struct session *s, struct series *series, struct clocks *candidate,
                      struct clocks *control)
{
    struct series_call call;
    double event, wall;
    device_control_cuda(s->options.device, 0, &event, &wall); /* the first launch loads the kernel */
    for (int i = 0; i < CLOCKS_CALLS; i++) {
        if (!series_call(series, s, &call))
            return false;
        candidate[i] = call.clocks;
        if (device_control_cuda(s->options.device, candidate[i].event_ms, &control[i].event_ms,
                                &control[i].wall_ms) != 0)
            candidate[i] = control[i] = (struct clocks){0, 1}; /* without the control there is no proof */
    }
    return true;
}

void clock_prove(struct session *s, struct series *series, const struct clocks *median, const char *line)
{
    struct clocks candidate[CLOCKS_CALLS] = {{0}}, control[CLOCKS_CALLS] = {{0}};
    if (s->options.device->backend != BACKEND_CUDA || !clocks_disagree(median) ||
        !defence_is_on(DEFENCE_CLOCKS))
        return;
    s->evidence.disturbed = true;
    s->evidence.company.unproved++;
    if (evidence_neighbours(&s->evidence, s->options.device, s->options.lease).state ==
            OTHER_PROCESSES_SOME ||
        s->evidence.proofs++ >= ATTEMPTS || !is_ours_alone(s) || !run_again(s, series, candidate, control) ||
        !clocks_prove(candidate, control, CLOCKS_CALLS) || !is_ours_alone(s))
        return;
    s->evidence.company.unproved--;
    evidence_find(
        &s->evidence, FINDING_CLOCK,
        "%.150s: events show %.3f ms, but the device is idle only after %.3f ms, again in "
        "a second run; a kernel of ours between its calls shows no gap, and nobody else is on the device: "
        "work goes on elsewhere after the call",
        line, median->event_ms, median->wall_ms);
}
