/* Reliability of a time: contention for the device, and agreement of two clocks.
 *
 * Events measure the stream; the wall clock, until the whole device is idle, measures everything. A large
 * difference of the medians shows a call whose work continues elsewhere. But it also occurs beside a
 * neighbour's kernels, or in a process that waits for a core. So it is evidence only if no neighbour can be
 * the cause. The device must be known to be ours alone before and after. The same calls, repeated, must show
 * the difference again. Interleaved kernels of our own that occupy the device as long must not. Otherwise it
 * is a note, and the time is marked. */
#include <stdlib.h>
#include <time.h>

#include "verify/device/neighbours.h"
#include "verify/device/pace.h"
#include "verify/system/interrupt.h"
#include "series.h"
#include "verify/isolate/child_table.h"

/* Attempts at a proof for one candidate; each may wait for NVML's averaging window twice. */
enum { ATTEMPTS = 3 };
static const double fresh = 0.2; /* seconds for which NVML's answer is reused */

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

static void note_mhz(struct company *company, double mhz)
{
    if (mhz > 0 && (company->least_mhz <= 0 || mhz < company->least_mhz))
        company->least_mhz = mhz;
}

bool session_keeps_pace(struct session *s, bool begins)
{
    enum { ATTEMPTS = 20 };
    static const struct timespec moment = {0, 25000000};
    const struct device *device = s->options.device;
    struct pace pace = pace_of(device);
    for (int i = 0; begins && i < ATTEMPTS && pace_is_slow(&pace, device) && !is_interrupted(); i++) {
        nanosleep(&moment, NULL);
        pace = pace_of(device);
    }
    if (!begins) {
        note_mhz(&s->company, pace.mhz);
        s->held |= pace.held;
    }
    return !pace_is_slow(&pace, device);
}

/* If NVML does not list processes, the device must have been idle while ours did nothing, and the lease must
 * be held alone. */
static bool is_ours_alone(struct session *s)
{
    const struct neighbours n = look(s);
    return n.state != NEIGHBOURS_SOME && lease_is_alone(s->options.lease) &&
           (n.state == NEIGHBOURS_NONE || neighbours_idle(s->options.device) != IDLE_NO);
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

void session_clocks(struct session *s, struct series *series, const struct clocks *median, const char *line)
{
    struct clocks candidate[CLOCKS_CALLS] = {{0}}, control[CLOCKS_CALLS] = {{0}};
    if (s->options.device->backend != BACKEND_CUDA || !clocks_disagree(median) ||
        !defence_is_on(DEFENCE_CLOCKS))
        return;
    s->disturbed = true;
    s->company.unproved++;
    if (look(s).state == NEIGHBOURS_SOME || s->proofs++ >= ATTEMPTS || !is_ours_alone(s) ||
        !run_again(s, series, candidate, control) || !clocks_prove(candidate, control, CLOCKS_CALLS) ||
        !is_ours_alone(s))
        return;
    s->company.unproved--;
    session_find(
        s, FINDING_CLOCK,
        "%.150s: events show %.3f ms, but the device is idle only after %.3f ms, again in "
        "a second run; a kernel of ours between its calls shows no gap, and nobody else is on the device: "
        "work goes on elsewhere after the call",
        line, median->event_ms, median->wall_ms);
}

void session_company(const struct session *s, struct company *add_to)
{
    add_to->disbelieved = add_to->disbelieved || s->disbelieved;
    add_to->shared = add_to->shared || s->company.shared;
    add_to->most = s->company.most > add_to->most ? s->company.most : add_to->most;
    add_to->unproved += s->company.unproved;
    note_mhz(add_to, s->company.least_mhz);
    if (s->held)
        pace_name(s->held, add_to->held_back, sizeof add_to->held_back);
}
