#ifndef UNSEEN_SESSION_INTERNAL_H
#define UNSEEN_SESSION_INTERNAL_H

#include "reference/judge.h"
#include "verify/isolate/child.h"
#include "verify/oracle/oracle.h"
#include "verify/system/clock.h"
#include "verify/system/defence.h"
#include "verify/device/memory.h"
#include "verify/device/neighbours.h"
#include "verify/measure/clocks.h"
#include "content.h"
#include "judging.h"

/* SESSION_REFUSALS: after this many refusals with no other process holding memory, a refusal is not caused by
 * lack of memory. */
enum {
    SESSION_FINDINGS = 8,
    SESSION_RAISES = 16,
    SESSION_CALLS = 5,
    SESSION_REFUSALS = 3,
    SESSION_AHEAD = 8,
    SESSION_PAST = 256
};
/* Configurations that are set up at once for timing, and buffers of each, used in turns. */
enum { SESSION_POOL = 4, SESSION_RING = 3 };

/* One tensor of a configuration. */
struct slot {
    struct region region[SESSION_RING]; /* buffers for the candidate; a call uses one of them */
    void *own;    /* inputs and in-out tensors: the judge's copy of the drawn values; else NULL */
    void *given;  /* with rotated draws: the inputs of the judged call; else NULL */
    void *got;    /* outputs and in-out tensors: a snapshot after the call; else NULL */
    void *before; /* the snapshot of another call: the preceding one, or the second that is judged */
    size_t bytes;
    size_t row, pitch; /* bytes of a row, and between the starts of rows */
    uint32_t poison;
    struct channel_tensor tensor; /* description for a candidate that gets tensors */
};

/* A configuration with allocated memory. */
struct setup {
    struct slot slot[PROBLEM_MAX_TENSORS];
    int rings;                   /* number of buffers per tensor; 0: nothing is set up */
    bool mapped;                 /* mapped into the child as sets first_set, .. */
    bool constant;               /* constructor arguments do not change: they are a model's weights */
    bool called;                 /* the candidate was called with them */
    bool own_mapped, own_called; /* the same for the other process (own.child) */
    int first_set;
};

struct session {
    struct session_options options;
    const struct memory *memory;
    struct judgement judgement[PROBLEM_MAX_TENSORS];
    int judgements;
    struct arithmetics arithmetics;
    struct oracle *oracle;       /* of an imported task; else NULL */
    struct oracle_answer answer; /* expected values for the current input draw */
    struct {
        struct config item[SESSION_PAST]; /* ring buffer of configurations called in the current process */
        int count;                        /* their total number */
        int in_vain;                      /* consecutive failures that also occur in another process */
        int searches; /* unsuccessful searches for the configuration that causes a failure */
        int pairs;    /* failures found to depend on an earlier configuration */
    } past;
    bool twinless;
    int twins_in_vain; /* failing siblings that also fail alone */
    bool keeps_model;  /* the next unmapping keeps the model for the next mapping */
    struct child *child;
    struct {
        struct child *child[SESSION_AHEAD]; /* started, and not yet used */
        int count;
        bool large; /* the current tensors are large: processes waiting beside them are ended */
        bool never; /* memory was short: no process waits any more */
        int drops;  /* number of times that waiting processes were ended for large tensors */
        struct child_started trouble; /* a process that ended while loading; else its status is CHILD_OK */
    } ahead;
    int losses; /* number of processes that the candidate has ended */
    struct {
        struct child *child; /* the process that is not current */
        bool at_hand;        /* the current process is the one with guarded allocations */
        bool raised;         /* raised.before of the process that is not current */
        bool off;            /* the candidate does not work with guarded allocations */
        char words[200];     /* its reason */
    } own;
    struct {
        /* the current process may continue after an exception; the caller repeats later failures */
        bool may_live;
        bool before;                   /* the current process has raised an exception and lives on */
        bool now;                      /* the current configuration ended with an exception */
        uint64_t kind[SESSION_RAISES]; /* hashes of exceptions raised in new processes */
        int kinds;
    } raised;
    struct setup setup[SESSION_POOL];
    struct setup *now; /* the current setup */
    int tensors;
    enum session_status status;
    char error[1024];
    struct finding finding[SESSION_FINDINGS];
    int findings;
    struct phase_seconds seconds;
    struct company company; /* contention during timing */
    unsigned held;          /* reasons why the device's clock was throttled meanwhile: PACE_.. */
    double looked;          /* time of the last look at other processes, and its answer */
    enum neighbours_state last_look;
    bool outside;            /* the candidate works outside of its stream */
    bool disbelieved;        /* times reported by the runner contradict the judge's clock */
    bool disturbed;          /* the current time is not reliable */
    int proofs;              /* attempts at a proof */
    struct pattern *pattern; /* session_observe */
    void *const *copies;     /* session_copy */
    double free_bytes;  /* free device memory beside the current configuration's tensors, for the candidate */
    double least_free;  /* the least of it at a refusal */
    bool wanted_memory; /* the last refusal was for lack of memory */
    int refused_alone;  /* other refusals while no other process held memory */
};

/* Ends the work on a configuration: a lack of memory becomes the outcome `skipped`. */
void session_settle(struct session *s, struct config_result *result);
void session_find(struct session *s, enum finding_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* session_memory.c: for the current setup, besides those of judging.h */
void setup_clear(struct setup *setup);
/* Like slots_create, with `rings` buffers per tensor, and with `turned` for rotated draws. If memory runs
 * out, slots_destroy releases what was allocated. */
int setup_create(struct session *s, const struct instance *instance, int rings, bool turned, char *why,
                 size_t why_size);
void slots_destroy(struct session *s);
/* Puts an input draw into buffers `ring`, flush against one guard; everything else is poisoned. content NULL:
 * as drawn. */
bool slots_place(struct session *s, int ring, enum placement placement, const struct content *content,
                 struct call *call);
/* Writes what slots_place puts into buffers to `given` (or a near duplicate's element to `own`), for the
 * judge. */
bool slots_give(struct session *s, const struct content *content);
/* Contents of an input, or of an in-out tensor before the call; for an output its snapshot. */
void *slot_content(const struct slot *slot);
/* After a call, sets the outcome for changed inputs or slack; else OUTCOME_PASS. */
bool slots_inspect(struct session *s, const struct call *call, struct call_result *result);
/* to `got`; the previous snapshot becomes `before` */
bool slots_snapshot(struct session *s, const struct call *call);
bool slots_keep(struct session *s, const struct call *call,
                bool before);       /* to one of the two; the other is not changed */
void slots_swap(struct session *s); /* exchanges `got` and `before` */
/* Fingerprint of the call's outputs and in-out tensors (memory.h). Returns 0, or an error of memory.h. */
int slots_fingerprint(const struct session *s, const struct call *call, uint64_t key, uint64_t *sum);
/* Chooses the element of a near duplicate, its new value of the same distribution, and the value it
 * replaces. */
bool slots_choose_near(struct session *s, const struct instance *instance, struct pcg *random,
                       struct content *content);

/* session.c */
void session_arguments(const struct session *s, const struct instance *instance, struct call *call);
void session_arguments_of(const struct problem *problem, const struct instance *instance, struct call *call);
/* starts it if needed, and maps the regions */
bool session_child(struct session *s, struct call_result *result);
double session_call_limit(struct session *s); /* time limit of the next call in seconds */
void session_child_failed(struct session *s, enum child_status status, const char *text,
                          struct call_result *result);
/* Sets the outcome and its text, and records the free memory. */
void session_refused(struct session *s, const struct child_answer *answer, struct call_result *result);
void session_unmap_child(struct session *s); /* unmaps the current setup from the current process */
/* Makes one call of a configuration in the current process. */
enum session_status session_check_first(struct session *s, const struct config *config,
                                        struct config_result *result);
/* After a configuration has passed, checks its sibling, if it has one (session_twin.c). False: see
 * s->status. */
bool twin_check(struct session *s, const struct config *config, struct config_result *result);
/* Records that `config` fails after `after`, and passes alone. */
void session_pair(const struct session *s, const struct config *config, const struct config *after,
                  struct result_pair *pair);
/* session_after.c: records a configuration called in the current process. */
void past_add(struct session *s, const struct config *config);
/* Should the current model of an imported task be kept for the sibling? `config` has passed. */
bool twin_wants_model(const struct session *s, const struct config *config, double bytes);
void session_restart(struct session *s); /* the next call is the first of a new process */
/* Seconds so far that do not count as timing. */
double session_not_timing(const struct session *s);

struct child_options session_child_options(const struct session *s);

/* session_ahead.c: the process pool */
/* Starts processes for one or two `sessions`, enough for `each` restarts. Starts fewer, or none, if device
 * memory or cores are few, or starting is fast. The order of two sessions is random for each pair, since a
 * context's placement changes the times of short kernels. */
void ahead_start(struct session *const *sessions, int count, int each, struct pcg *random);
/* Like child_start, but uses a waiting process, or returns the failure of one that ended while loading. After
 * several losses it starts further processes as well. */
enum child_status ahead_take(struct session *s, char *text, size_t text_size);
void ahead_drop(struct session *s);  /* frees their memory for another use */
void ahead_never(struct session *s); /* the same, permanently */
/* makes room for tensors that are about to be set up */
void ahead_make_room(struct session *s, double bytes);
void ahead_anywhere(bool on); /* for tests: use the pool on any machine */

/* Is tensor t an argument of a constructor, and no input of a call? */
bool session_is_state(const struct session *s, int t);

/* session_own.c */
/* Should a call be made with the candidate's own allocations between guards? */
bool own_applies(const struct session *s);
/* Makes that call. result->outcome is PASS if nothing was found; *judged: `got` has an output to judge.
 * False: s->status says why. */
bool own_call(struct session *s, const struct call *call, struct call_result *result, bool *judged);
void own_unmap(struct session *s); /* unmaps the current setup from that process */
void own_end(struct session *s);   /* ends that process */

/* session_raised.c: for the current configuration */
bool raised_is_known(const struct session *s,
                     const struct config_result *result); /* has a new process raised the same exception? */
/* records that a new process raised it */
void raised_keep(struct session *s, const struct config_result *result);

/* session_alone.c */
/* Call it after work on tensors of that many bytes, before leaving the gate. Frees large GPU memory that the
 * candidate's process keeps (a workspace, a graph): another process may need it. */
void session_give_back(struct session *s, double bytes);
/* Did it lack memory, possibly because of other processes? */
bool session_was_short(struct session *s, const struct config_result *result);
/* After the exclusive retry: a refusal for lack of memory becomes `skipped` if the judge's copies and other
 * programs left the candidate little. */
void session_settle_alone(struct session *s, struct config_result *result);

/* Is so much free on the device that a lack of memory cannot be caused by other processes? */
bool session_has_memory(const struct session *s);

/* session_clock.c */
/* Looks for other processes on the device, under the lease; if there are any, the current time is not
 * reliable. */
void session_look(struct session *s);
/* Is the device's clock at its normal speed? Before timing it waits for half a second, since an idle device
 * needs a moment to raise its clock; after timing it records the result. True if unknown. */
bool session_keeps_pace(struct session *s, bool begins);
struct series;
/* Called under the lease: does the median of the samples show work that outlives the call? Then the time is
 * not reliable; if further calls of the series prove it, it is a finding. */
void session_clocks(struct session *s, struct series *series, const struct clocks *median, const char *line);

/* session_replay.c */
/* `got`, the output of this call on a near duplicate, is wrong. Does it have exactly the bits of the answer
 * without the changed element, and is the output right in a process of its own? Then it was not computed,
 * which is a finding. near NULL: the caller has compared, and `own` has the near duplicate. `where` is
 * appended to the configuration. False: no verdict is possible. */
bool replay_prove(struct session *s, const struct judging *judging, const struct content *content,
                  const struct call *call, const struct near *near, const char *where);
/* The same for a completely different draw: output k of this call, judged in `report`, has the bits of the
 * answer to the preceding draw. */
bool replay_prove_fresh(struct session *s, const struct judging *judging, const struct call *call, int k,
                        const struct judge_report *report, bool *proved);

/* session_judge.c: fills a judgement's request for the snapshots. */
void session_request(const struct session *s, const struct judging *judging, int k,
                     struct judge_request *request);

/* session_told.c: for an imported task, asks for the expected values of the current input draw. False: there
 * are none. If the session is neither broken nor short, *untold says that they cannot be computed, and
 * s->answer.text why. Always true for other problems. */
bool told_ask(struct session *s, const struct judging *judging, bool *untold);
/* A candidate of a task has refused or ended. If the task's own model does not run there either, nothing is
 * judged: the contract is too wide, as it was derived from some sizes only. False: s->status says why. */
bool told_excuse(struct session *s, const struct judging *j, struct call_result *result);
/* May a candidate be asked for both configurations in one process? If the task's own model refuses the pair,
 * or answers differently than for `after` alone, the pair is not part of its contract. False also if this is
 * unknown, or s->status says why. */
bool told_admits(struct session *s, const struct config *before, const struct config *after);
void told_request(const struct session *s,
                  struct judge_request *request); /* puts the expected values into a judgement's request */
/* Before an output is called wrong, evaluates its worst element in MPFR, if the task's operations support it.
 * If that element is right, the output passes. False: both evaluations contradict each other, so no verdict
 * is possible. */
bool told_hear(struct session *s, const struct judging *judging, int k, struct judge_report *report,
               struct config_result *total, struct worst *worst);
void told_add(const struct session *s,
              struct oracle_quality *told); /* adds the quality of the expected values */

/* session_witness.c */
/* Does the witness of one element cost too much to audit several? */
bool witness_is_expensive(const struct session *s, int k, const struct judge_request *request);
/* Chooses the elements to audit: anywhere (near < 0), or if an element is expensive, in the row of the worst
 * one, which MPFR evaluates anyway. For a fold: the worst one over some of its terms. */
void witness_choose(const struct session *s, const struct judging *j, int k, int64_t near, int64_t elements,
                    struct judge_request *request);
/* Asks MPFR about the open elements of a report, the worst element and the samples. */
bool witness_hear(struct session *s, const struct judging *j, int k, struct judge_request *request,
                  struct judge_report *report, struct config_result *total, struct worst *worst);

#endif
