/* The parts of unseen-runner: the process in which one candidate runs. It holds the candidate,
 * the tensors' memory and the channel, and nothing worth stealing. */
#ifndef UNSEEN_RUNNER_INTERNAL_H
#define UNSEEN_RUNNER_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

#include "channel.h"
#include "verify/device/region.h"

/* One tensor's memory: [base - guard, base) and [base + mapped, base + mapped + guard) are
 * reserved and unmapped. mapped 0: nothing there. */
struct slot {
    char *base;
    size_t mapped, guard;
    struct channel_tensor tensor;
};

struct runner {
    int channel; /* a private duplicate: the candidate may close or replace descriptor 3 */
    enum backend backend;
    void (*candidate)(void);         /* called through the type that fits the number of arguments */
    struct slot slot[CHANNEL_SLOTS]; /* set by set */
    volatile uint32_t sequence;      /* of the request in progress */
    atomic_bool busy;                /* a request is in progress: a fault is its answer */
    bool python;                     /* the candidate is a module of the interpreter that loaded this */
    bool own;                        /* what it allocates itself is to lie between guards */
    pid_t self;
};
extern struct runner runner;

/* A candidate has forked, and this is what it started: it answers nothing but by a fault. */
static inline bool runner_is_copy(void)
{
    return getpid() != runner.self;
}

/* --- runner_arena.c --- */

/* Reserve the arena, and from now on refuse what would change a mapping in it. Before any of the candidate's code runs.
 * Returns the descriptor by which the kernel asks about the runner's own mappings, and *base; -1: this machine has no such
 * filter, or no such addresses to spare. */
int arena_begin(uint64_t *base);
/* Where a tensor of so many bytes goes; NULL: not into the arena. */
char *arena_place(unsigned slot, size_t mapped);
bool arena_holds(const void *address);

/* --- runner.c --- */

/* What follows the start of the process: confined, with its handlers and its filter, it says hello and answers requests until
 * the channel ends. `without` names defences that are taken away. Returns the exit status. */
int runner_serve(const char *without);

/* --- runner_python.c --- */

/* 0, or an enum reply_failure with words in text (CHANNEL_TEXT bytes). */
int python_load(const struct request *request, char *text);
/* The set is unmapped; CHANNEL_EVERY_SET: all are. `keep`: its model may serve what is mapped next. */
void python_forget(uint32_t set, bool keep);
/* Views of the tensors, and whatever the candidate's class does before it is called. False: `reply` says why not. */
bool python_prepare(const struct request *request, void *stream, struct reply *reply);
/* 0: what it returned can be taken. */
int python_call(void);
double python_ended_ms(void); /* when the candidate itself returned, by call_clock_ms; 0: not known */
/* After the call, the device at rest: what it returned goes to where outputs lie, or `reply` says why it does not. */
void python_finish(struct reply *reply);

/* --- runner_own.c --- */

/* Where a block could not be had, of which torch made a null pointer, `reply` becomes RETURNED_SHORT: whatever came of that is nobody's
 * doing. True: it did. */
bool own_excuse(struct reply *reply);
/* After a call of a candidate whose own allocations lie between guards, the device at rest: `reply` becomes DEVICE_ERROR where
 * something was written beside one of them, and RETURNED_SHORT where one could not be had. What was freed is given back. */
void own_settle(struct reply *reply);
/* What was freed since is given back, with the device at rest. */
void own_release(void);

/* --- runner_poison.c --- */

/* What the C library's allocator has free in this thread's heap is overwritten (DEFENCE_POISON); nothing is allocated or given
 * back. Blocks below 1 KiB that it keeps apart, and those of other threads' heaps, stay as they are. */
void poison_heap(void);

/* --- runner_fault.c --- */

/* Handlers, alternate stack and signal mask as they must be; a candidate may have changed them. */
void fault_arm(void);

/* --- runner_audit.c --- */

/* With CHANNEL_AUDIT last on the command line: of whatever is loaded from now on a page stays mapped. Before anything else. */
void audit_begin(int argc, char **argv);

/* --- runner_launches.c --- */

/* Kernels that are launched are to be named (--forbid). */
void launches_want(void);
/* On a device that is open, before any of the candidate's code runs; again: nothing. Where they cannot be named `why`
 * (CHANNEL_TEXT bytes) says it. Nothing where it is not wanted. */
void launches_begin(char *why);
/* From now on, or no longer: what is launched is the candidate's. */
void launches_listen(bool on);
/* What has not been told yet and finds room: "KERNEL TAB OBJECT LF" each. `text`: CHANNEL_TEXT bytes, all zero. */
void launches_tell(char *text);

/* --- runner_state.c --- */

/* Once, before any of the candidate's code runs: what state_restore puts back. */
void state_keep(void);
/* Before every call: rounding and the other modes of arithmetic, environment, folder, umask, locale, standard descriptors,
 * signals (with fault_arm), timers, the calling thread's scheduling, limits that were lowered, and of the device what
 * device_state_restore says. Before state_keep: fault_arm alone. */
void state_restore(void);

/* --- runner_filter.c --- */

/* From now on, in this process and what it starts: no system call that reaches beyond it, and the handlers of fault_arm stay.
 * Before any of the candidate's code runs. */
void filter_calls(void);

/* --- runner_call.c --- */

/* What the candidate is to be called with; the request's set, tensors and offsets were checked. False: it has an
 * argument of no known type. */
bool call_prepare(const struct request *request, void *stream);
/* The candidate's return value, of the call prepared last. */
int call_candidate(void);
/* A cold call on the host: reply gets kind, value and times. */
void call_host(const struct request *request, struct reply *reply);
double call_clock_ms(void); /* monotonic */

/* --- runner_cuda.c: each returns 0, or an enum reply_failure with words in text (CHANNEL_TEXT
 * bytes) --- */

int device_open(int ordinal, char *text); /* primary context made current, stream created */
void *device_stream(void);
int device_map(struct slot *slot, int fd, size_t mapped, char *text);
void device_unmap(struct slot *slot);
/* Waits until the device is at rest; reply becomes DEVICE_ERROR where it is not any more what it was. */
void device_rest(struct reply *reply);
/* A cold call of what is prepared, the device drained after it: reply becomes RETURNED, DEVICE_ERROR or FAILED. */
void device_call(const struct request *request, struct reply *reply);

/* --- runner_state_cuda.c --- */

#ifdef HAVE_CUDA
#include <cuda.h>

/* With the context and the stream that every call is to find, before the candidate is loaded. */
void device_state_keep(int ordinal, CUcontext context, CUstream stream);
#endif
/* The current context, its scheduling flags, cache preferences, limits that were lowered, the stream's window of
 * persisting lines and a capture left open on it. Nothing before device_state_keep. */
void device_state_restore(void);

#endif
