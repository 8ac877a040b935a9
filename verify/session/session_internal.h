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

/* A candidate that refused so often when nobody else held memory does not refuse for want of it. */
enum {
    SESSION_FINDINGS = 8,
    SESSION_RAISES = 16,
    SESSION_CALLS = 5,
    SESSION_REFUSALS = 3,
    SESSION_AHEAD = 8,
    SESSION_PAST = 256
};
/* Configurations that are set up at once while times are taken, and buffers that each of them has, in turns. */
enum { SESSION_POOL = 4, SESSION_RING = 3 };

/* One tensor of a configuration. */
struct slot {
    struct region region[SESSION_RING]; /* what the candidate sees, one of them in a call */
    void *own;                          /* inputs and in-out: what was drawn, the judge's copy; else NULL */
    void *given;  /* where contents are turned: what the call that is judged was given; else NULL */
    void *got;    /* outputs and in-out: a snapshot of what came back; else NULL */
    void *before; /* the same of another call: the one before, or the other that is to be judged */
    size_t bytes;
    size_t row, pitch; /* bytes of a row, and to the next one */
    uint32_t poison;
    struct channel_tensor tensor; /* for a candidate that is given tensors */
};

/* A configuration for which there is memory. */
struct setup {
    struct slot slot[PROBLEM_MAX_TENSORS];
    int rings;                   /* how many of the regions of each tensor; 0: nothing is set up */
    bool mapped;                 /* the child has them, as sets first_set and following */
    bool constant;               /* what a constructor was given stays as it is: it is a model's weights */
    bool called;                 /* and was called with them */
    bool own_mapped, own_called; /* so it is with the process that is not at hand */
    int first_set;
};

struct session {
    struct session_options options;
    const struct memory *memory;
    struct judgement judgement[PROBLEM_MAX_TENSORS];
    int judgements;
    struct arithmetics arithmetics;
    struct oracle *oracle;       /* of an imported task; else NULL */
    struct oracle_answer answer; /* for the contents at hand */
    struct {
        struct config item[SESSION_PAST]; /* called in the process at hand, a ring */
        int count;                        /* of them in all */
        int in_vain;                      /* failures in a row that another process had, too */
        int searches;                     /* for the configuration that a failure comes from, in vain */
        int pairs;                        /* failures that were found to depend on one */
    } past;
    bool twinless;
    int twins_in_vain; /* that failed, and do by themselves */
    bool keeps_model;  /* what is unmapped next leaves its model to what is mapped then */
    struct child *child;
    struct {
        struct child *child[SESSION_AHEAD]; /* started, and not used yet */
        int count;
        bool large;                   /* so are the tensors at hand: whatever waits beside them is ended */
        bool never;                   /* memory was short: none waits any more */
        int drops;                    /* how often those that waited were ended for large tensors */
        struct child_started trouble; /* status: that one has ended while it was loaded; else CHILD_OK */
    } ahead;
    int losses; /* processes that the candidate has ended */
    struct {
        struct child *child; /* the process that is not at hand */
        bool at_hand;        /* the one whose own allocations lie between guards is */
        bool raised;         /* raised.before, of the process that is not at hand */
        bool off;            /* the candidate does not work so */
        char words[200];     /* its reason */
    } own;
    struct {
        bool may_live; /* the process at hand may go on when it raises one: who calls looks again */
        bool before;   /* the process at hand has raised an error, and lives on */
        bool now;      /* so ended the configuration at hand */
        uint64_t kind
            [SESSION_RAISES]; /* which errors a process of their own has raised, of which nothing was asked before */
        int kinds;
    } raised;
    struct setup setup[SESSION_POOL];
    struct setup *now; /* the one at hand */
    int tensors;
    enum session_status status;
    char error[1024];
    struct finding finding[SESSION_FINDINGS];
    int findings;
    struct phase_seconds seconds;
    struct company company; /* while times were taken */
    unsigned held;          /* what held the device's clock back meanwhile: PACE_.. */
    double looked;          /* when the neighbours were last asked for, and the answer */
    enum neighbours_state last_look;
    bool outside;            /* the candidate works outside the stream that it is given */
    bool disbelieved;        /* what the runner says of times does not add up with the judge's clock */
    bool disturbed;          /* the time at hand is not to be trusted */
    int proofs;              /* attempts */
    struct pattern *pattern; /* session_observe */
    void *const *copies;     /* session_copy */
    double free_bytes;       /* of the device, beside what the configuration at hand takes: the candidate's */
    double least_free;       /* of them, when it refused */
    bool wanted_memory;      /* so said the last refusal */
    int refused_alone;       /* refusals of other kinds, when nobody else held memory */
};

/* After the work on a configuration: a lack of memory becomes the outcome `skipped`. */
void session_settle(struct session *s, struct config_result *result);
void session_find(struct session *s, enum finding_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* session_memory.c: of the setup at hand, beside judging.h's */
void setup_clear(struct setup *setup);
/* slots_create with `rings` regions for each tensor, and with `turned` for contents that are turned. What was made
 * before memory ran out slots_destroy releases. */
int setup_create(struct session *s, const struct instance *instance, int rings, bool turned, char *why,
                 size_t why_size);
void slots_destroy(struct session *s);
/* The content into buffers `ring`, against one guard or the other; all else is poisoned. NULL: as it was drawn. */
bool slots_place(struct session *s, int ring, enum placement placement, const struct content *content,
                 struct call *call);
/* What slots_place puts down, into `given` (or a near duplicate's element into `own`), for whoever judges. */
bool slots_give(struct session *s, const struct content *content);
/* What an input, or an in-out tensor before the call, held; of an output what came back. */
void *slot_content(const struct slot *slot);
/* After a call: changed inputs and slack give the outcome; OUTCOME_PASS otherwise. */
bool slots_inspect(struct session *s, const struct call *call, struct call_result *result);
bool slots_snapshot(struct session *s, const struct call *call); /* to `got`; what was there is `before` */
bool slots_keep(struct session *s, const struct call *call,
                bool before);       /* to one of them, the other stays */
void slots_swap(struct session *s); /* `got` and `before` */
/* Of all that the call has left in outputs and in-out tensors (memory.h). 0, or an error of memory.h. */
int slots_fingerprint(const struct session *s, const struct call *call, uint64_t key, uint64_t *sum);
/* The element of a near duplicate: its value, drawn like the others, and what it replaces. */
bool slots_choose_near(struct session *s, const struct instance *instance, struct pcg *random,
                       struct content *content);

/* session.c */
void session_arguments(const struct session *s, const struct instance *instance, struct call *call);
void session_arguments_of(const struct problem *problem, const struct instance *instance, struct call *call);
bool session_child(struct session *s, struct call_result *result); /* running, with regions mapped */
double session_call_limit(struct session *s); /* seconds, for the call that is made now */
void session_child_failed(struct session *s, enum child_status status, const char *text,
                          struct call_result *result);
/* The outcome, in its words; what memory there was is noted. */
void session_refused(struct session *s, const struct child_answer *answer, struct call_result *result);
void session_unmap_child(struct session *s); /* the setup at hand, of the process at hand */
/* One call of a configuration, whatever there was in the process before. */
enum session_status session_check_first(struct session *s, const struct config *config,
                                        struct config_result *result);
/* Of a configuration that has passed: its twin, where it has one, right after it (session_twin.c). False: see s->status. */
bool twin_check(struct session *s, const struct config *config, struct config_result *result);
/* `config` is not right after `after`, and is by itself. */
void session_pair(const struct session *s, const struct config *config, const struct config *after,
                  struct result_pair *pair);
/* session_after.c: the process at hand was given it. */
void past_add(struct session *s, const struct config *config);
/* That one has passed, and is at hand still: is its model, of an imported task, to serve its twin as well? */
bool twin_wants_model(const struct session *s, const struct config *config, double bytes);
void session_restart(struct session *s); /* the next call is the first of a new process */
/* Seconds that count as something else than the times that are taken. */
double session_not_timing(const struct session *s);

struct child_options session_child_options(const struct session *s);

/* session_ahead.c: processes for later */
/* Those of `sessions`, one or two, for so many restarts each, at once; fewer, or none, where the device's memory or the cores are few,
 * or where starting one takes no time. Which of two is first is drawn for each: where a context lies moves what short kernels take. */
void ahead_start(struct session *const *sessions, int count, int each, struct pcg *random);
/* child_start; or one that waits, or what ended one of them while it was loaded. After several losses others are started with it. */
enum child_status ahead_take(struct session *s, char *text, size_t text_size);
void ahead_drop(struct session *s);                    /* what they hold, somebody needs */
void ahead_never(struct session *s);                   /* the same, for good */
void ahead_make_room(struct session *s, double bytes); /* of tensors, that are to be set up */
void ahead_anywhere(bool on);                          /* for tests: whatever the machine */

/* Is tensor t given to a constructor, and no input of a call? */
bool session_is_state(const struct session *s, int t);

/* session_own.c */
/* Is there to be a call with the candidate's own allocations between guards? */
bool own_applies(const struct session *s);
/* That call. result->outcome is PASS where nothing was found; *judged: `got` holds an output to be judged. False: s->status says
 * why. */
bool own_call(struct session *s, const struct call *call, struct call_result *result, bool *judged);
void own_unmap(struct session *s); /* of that process: the setup at hand */
void own_end(struct session *s);   /* that process */

/* session_raised.c: of the configuration at hand, */
bool raised_is_known(const struct session *s,
                     const struct config_result *result); /* did a new process raise this, too? */
void raised_keep(struct session *s, const struct config_result *result); /* it has raised this */

/* session_alone.c */
/* After work on so many bytes of tensors, with the room not yet left: what the candidate's process keeps of a GPU's memory, a
 * workspace or a graph of that size, must not be what another lacks. */
void session_give_back(struct session *s, double bytes);
/* Did it lack memory that others may have had, or may it? */
bool session_was_short(struct session *s, const struct config_result *result);
/* After it was tried when no other unseen held any: a refusal for want of memory is `skipped` where the judge's copies and
 * other programs left the candidate little. */
void session_settle_alone(struct session *s, struct config_result *result);

/* Is enough left on the device that nobody else can be the reason why a candidate gets none? */
bool session_has_memory(const struct session *s);

/* session_clock.c */
/* Who is on the device now, with the lease in hand: others make the time at hand one that is not to be
 * trusted. */
void session_look(struct session *s);
/* With the lease in hand: does the median of the samples show work that outlives the call? Then the time is
 * not to be trusted, and where it can be proved, by more calls of the series, it is a finding. */
/* Is the device's clock what it should be, before times are taken (waits for half a second, as one at rest takes a moment to raise
 * it) or after them (which is noted)? True where nothing is known of it. */
bool session_keeps_pace(struct session *s, bool begins);
struct series;
void session_clocks(struct session *s, struct series *series, const struct clocks *median, const char *line);

/* session_replay.c */
/* `got`, the output of this call on a near duplicate, is wrong. Is it bit for bit the answer to the content without that
 * element (NULL: the caller has compared, and `own` holds the near duplicate), and right in a process of its own? Then it
 * was not computed, which is a finding. `where` follows the configuration. False: no verdict can be had. */
bool replay_prove(struct session *s, const struct judging *judging, const struct content *content,
                  const struct call *call, const struct near *near, const char *where);
/* The same where all of the content is another: output k of this call, of which `report` was made, has the bits that were the
 * answer to the content before. */
bool replay_prove_fresh(struct session *s, const struct judging *judging, const struct call *call, int k,
                        const struct judge_report *report, bool *proved);

/* session_judge.c: a judgement's request about the snapshots. */
void session_request(const struct session *s, const struct judging *judging, int k,
                     struct judge_request *request);

/* session_told.c: of an imported task, ask for the right answers of the contents at hand. False: there are none, and
 * where the session is not broken or short, *untold says that they cannot be told, and s->answer.text why. Of other
 * problems always true. */
bool told_ask(struct session *s, const struct judging *judging, bool *untold);
/* A candidate of a task has refused, or ended: where the task's own model does not run, either, its contract, which was found by trying
 * some sizes, is too wide there, and nothing is judged. False: s->status says why. */
bool told_excuse(struct session *s, const struct judging *j, struct call_result *result);
/* May a candidate be asked for one after the other in one process? A pair that the task's own model refuses, or answers in another
 * way than `after` alone, is no part of its contract. False, too, where nobody can tell, or s->status says why. */
bool told_admits(struct session *s, const struct config *before, const struct config *after);
void told_request(const struct session *s,
                  struct judge_request *request); /* they go into a judgement's request */
/* Before anything is called wrong: its worst element in MPFR, where the task's operations have that. One that is right after
 * all acquits the output. False: the two evaluations contradict each other, and no verdict can be had. */
bool told_hear(struct session *s, const struct judging *judging, int k, struct judge_report *report,
               struct config_result *total, struct worst *worst);
void told_add(const struct session *s, struct told *told); /* how they are known */

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
