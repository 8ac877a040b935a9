#ifndef UNSEEN_SESSION_INTERNAL_H
#define UNSEEN_SESSION_INTERNAL_H

#include "reference/judge.h"
#include "verify/isolate/child.h"
#include "verify/system/clock.h"
#include "verify/system/defence.h"
#include "verify/device/memory.h"
#include "verify/device/neighbours.h"
#include "verify/measure/clocks.h"
#include "judging.h"

/* A candidate that refused so often when nobody else held memory does not refuse for want of it. */
enum { SESSION_FINDINGS = 8, SESSION_CALLS = 3, SESSION_REFUSALS = 3 };

/* One tensor of the configuration at hand. */
struct slot {
    struct region region; /* what the candidate sees */
    void *own;    /* inputs and in-out: what is put there before a call, the judge's copy; else NULL */
    void *got;    /* outputs and in-out: a snapshot of what came back; else NULL */
    void *before; /* the same of the previous call */
    size_t bytes;
    size_t row, pitch; /* bytes of a row, and to the next one */
    uint32_t poison;
};

struct session {
    struct session_options options;
    const struct memory *memory;
    struct judgement judgement[PROBLEM_MAX_TENSORS];
    int judgements;
    struct arithmetics arithmetics;
    struct child *child;
    bool mapped; /* the child has this configuration's regions */
    struct slot slot[PROBLEM_MAX_TENSORS];
    int tensors;
    enum session_status status;
    char error[1024];
    struct finding finding[SESSION_FINDINGS];
    int findings;
    struct phase_seconds seconds;
    struct company company; /* while times were taken */
    double looked;          /* when the neighbours were last asked for, and the answer */
    enum neighbours_state last_look;
    bool disturbed;          /* the time at hand is not to be trusted */
    int proofs;              /* attempts */
    struct pattern *pattern; /* session_observe */
    void *const *copies;     /* session_copy */
    double free_bytes;       /* of the device, beside what the configuration at hand takes */
    int refused_alone;
};

/* After the work on a configuration: a lack of memory becomes the outcome `skipped`. */
void session_settle(struct session *s, struct config_result *result);
void session_find(struct session *s, enum finding_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* session_memory.c */
void slots_destroy(struct session *s);
bool slots_place(struct session *s, enum placement placement, struct call *call);
/* After a call: changed inputs and slack give the outcome; OUTCOME_PASS otherwise. */
bool slots_inspect(struct session *s, const struct call *call, struct call_result *result);
bool slots_snapshot(struct session *s, const struct call *call);
/* Between timed calls: in-out tensors are again what they were. */
bool slots_restore(struct session *s, const struct call *call);
bool slots_have_inout(const struct session *s);

/* session.c */
void session_arguments(const struct session *s, const struct instance *instance, struct call *call);
bool session_child(struct session *s, struct call_result *result); /* running, with regions mapped */
void session_child_failed(struct session *s, enum child_status status, const char *text,
                          struct call_result *result);

/* session_clock.c */
/* Who is on the device now, with the lease in hand: others make the time at hand one that is not to be
 * trusted. */
void session_look(struct session *s);
/* With the lease in hand: does the median of the samples show work that outlives the call? Then the time is
 * not to be trusted, and where it can be proved it is a finding. Anything but CHILD_OK: the candidate's end,
 * as in child_time. */
enum child_status session_clocks(struct session *s, const struct call *call, const struct clocks *median,
                                 const char *line, char *text, size_t text_size);

/* session_judge.c: a judgement's request about the snapshots. */
void session_request(const struct session *s, const struct judging *judging, int k,
                     struct judge_request *request);

/* session_witness.c */
/* Is the witness of one element too much for an audit of several? */
bool witness_is_expensive(const struct session *s, int k, const struct judge_request *request);
/* Elements that are to be audited: anywhere (near < 0), or where an element is expensive, in the row of the worst
 * one, which MPFR has to evaluate anyway; of a fold, the worst one over some of its terms. */
void witness_choose(const struct session *s, const struct judging *j, int k, int64_t near, int64_t elements,
                    struct judge_request *request);
/* MPFR on what a report leaves open, on the worst element and on the samples. */
bool witness_hear(struct session *s, const struct judging *j, int k, struct judge_request *request,
                  struct judge_report *report, struct config_result *total, struct worst *worst);

#endif
