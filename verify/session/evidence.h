/* Observations about a candidate and about the machine, collected over all of a session's configurations. It
 * knows neither processes nor tensors. */
#ifndef UNSEEN_EVIDENCE_H
#define UNSEEN_EVIDENCE_H

#include "reports/record/result.h"
#include "verify/device/device.h"
#include "verify/device/lease.h"
#include "verify/device/other_processes.h"

enum { EVIDENCE_FINDINGS = 8 };

struct evidence {
    struct finding finding[EVIDENCE_FINDINGS]; /* evidence of cheating, one of each kind */
    int findings;
    struct phase_seconds seconds;
    int family;             /* as in other_processes_of; 0: none */
    struct company company; /* contention during timing */
    unsigned held;          /* reasons why the device's clock was throttled meanwhile: PACE_.. */
    double looked;          /* time of the last look at other processes, and its answer */
    enum other_processes_state last_look;
    bool disbelieved; /* times reported by the runner contradict the judge's clock */
    bool disturbed;   /* the current time is not reliable */
    int proofs;       /* attempts at a proof by two clocks */
    /* where to describe the wrong elements of the first call that has any; NULL: nowhere */
    struct pattern *pattern;
};

/* Records a finding; one proof per kind is enough, so later ones of the kind are dropped. */
void evidence_find(struct evidence *evidence, enum finding_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool evidence_has(const struct evidence *evidence, enum finding_kind kind);

/* Adds the seconds of each phase to *add_to. */
void evidence_add_seconds(const struct evidence *evidence, struct phase_seconds *add_to);
/* Seconds so far that do not count as timing. */
double evidence_not_timing(const struct evidence *evidence);

/* Looks for other processes on the device, under the lease, and counts them as contention. */
struct other_processes evidence_neighbours(struct evidence *evidence, const struct device *device,
                                           struct lease *lease);
/* The same, unless it was done just now. If there are any, the current time is not reliable. */
void evidence_look(struct evidence *evidence, const struct device *device, struct lease *lease);
/* Is the device's clock at its normal speed? Before timing it waits for half a second, since an idle device
 * needs a moment to raise its clock; after timing it records the result. True if unknown. */
bool evidence_keeps_pace(struct evidence *evidence, const struct device *device, bool begins);
/* Adds the contention for the device during timing to *add_to. */
void evidence_add_company(const struct evidence *evidence, struct company *add_to);

#endif
