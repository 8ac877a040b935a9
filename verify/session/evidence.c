#include "evidence.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "verify/device/gpu_clocks.h"
#include "verify/worker/child.h"
#include "verify/sandbox/child_table.h"
#include "verify/util/clock.h"
#include "verify/util/interrupt.h"

bool evidence_has(const struct evidence *evidence, enum finding_kind kind)
{
    for (int i = 0; i < evidence->findings; i++)
        if (evidence->finding[i].kind == kind)
            return true;
    return false;
}

void evidence_find(struct evidence *evidence, enum finding_kind kind, const char *format, ...)
{
    va_list arguments;
    if (evidence_has(evidence, kind) || evidence->findings == EVIDENCE_FINDINGS)
        return;
    struct finding *finding = &evidence->finding[evidence->findings++];
    finding->kind = kind;
    va_start(arguments, format);
    vsnprintf(finding->evidence, sizeof finding->evidence, format, arguments);
    va_end(arguments);
}

void evidence_add_seconds(const struct evidence *evidence, struct phase_seconds *add_to)
{
    add_to->start += evidence->seconds.start;
    add_to->fill += evidence->seconds.fill;
    add_to->run += evidence->seconds.run;
    add_to->judge += evidence->seconds.judge;
    add_to->witness += evidence->seconds.witness;
    add_to->time += evidence->seconds.time;
    add_to->map += evidence->seconds.map;
    add_to->stop += evidence->seconds.stop;
}

double evidence_not_timing(const struct evidence *evidence)
{
    return evidence->seconds.judge + evidence->seconds.witness + evidence->seconds.start +
           evidence->seconds.stop + evidence->seconds.map;
}

static const double fresh = 0.2; /* seconds for which NVML's answer is reused */

struct other_processes evidence_neighbours(struct evidence *evidence, const struct device *device,
                                           struct lease *lease)
{
    const struct other_processes n = other_processes_of(device, lease, child_count(), evidence->family);
    evidence->looked = clock_seconds();
    evidence->last_look = n.state;
    if (n.state == OTHER_PROCESSES_SOME) {
        evidence->company.shared = true;
        evidence->company.most = n.count > evidence->company.most ? n.count : evidence->company.most;
    }
    return n;
}

void evidence_look(struct evidence *evidence, const struct device *device, struct lease *lease)
{
    if (device->backend != BACKEND_CUDA)
        return;
    if (clock_seconds() - evidence->looked > fresh)
        evidence_neighbours(evidence, device, lease);
    evidence->disturbed = evidence->disturbed || evidence->last_look == OTHER_PROCESSES_SOME;
}

static void note_mhz(struct company *company, double mhz)
{
    if (mhz > 0 && (company->least_mhz <= 0 || mhz < company->least_mhz))
        company->least_mhz = mhz;
}

bool evidence_keeps_pace(struct evidence *evidence, const struct device *device, bool begins)
{
    enum { ATTEMPTS = 20 };
    static const struct timespec moment = {0, 25000000};
    struct gpu_clocks pace = gpu_clocks_of(device);
    for (int i = 0; begins && i < ATTEMPTS && gpu_clocks_is_slow(&pace, device) && !is_interrupted(); i++) {
        nanosleep(&moment, NULL);
        pace = gpu_clocks_of(device);
    }
    if (!begins) {
        note_mhz(&evidence->company, pace.mhz);
        evidence->held |= pace.held;
    }
    return !gpu_clocks_is_slow(&pace, device);
}

void evidence_add_company(const struct evidence *evidence, struct company *add_to)
{
    add_to->disbelieved = add_to->disbelieved || evidence->disbelieved;
    add_to->shared = add_to->shared || evidence->company.shared;
    add_to->most = evidence->company.most > add_to->most ? evidence->company.most : add_to->most;
    add_to->unproved += evidence->company.unproved;
    note_mhz(add_to, evidence->company.least_mhz);
    if (evidence->held)
        gpu_clocks_name(evidence->held, add_to->held_back, sizeof add_to->held_back);
}
