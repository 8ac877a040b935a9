/* Internals of unseen-runner, the process in which one candidate runs. It has the candidate, the tensors'
 * memory and the channel, but no secrets. */
#ifndef UNSEEN_RUNNER_INTERNAL_H
#define UNSEEN_RUNNER_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

#include "channel.h"
#include "verify/device/region.h"

/* Memory of one tensor: [base - guard, base) and [base + mapped, base + mapped + guard) are reserved and
 * inaccessible. mapped 0: the slot is empty. */
struct slot {
    char *base;
    size_t mapped, guard;
    bool stays; /* the mapping outlives the set */
    struct channel_tensor tensor;
};

struct runner {
    int channel; /* a private duplicate, since the candidate may close or replace descriptor 3 */
    enum backend backend;
    void (*candidate)(void);           /* called with the type that fits the number of arguments */
    struct slot slot[CHANNEL_SLOTS];   /* ordered by set */
    struct slot kept[CHANNEL_REGIONS]; /* mappings that stay, by the region's number; 0 is not used */
    volatile uint32_t sequence;        /* sequence number of the current request */
    atomic_bool busy;                  /* a request is in progress, so a fault is its reply */
    bool python;                       /* the candidate is a module; an interpreter loaded this library */
    bool own;                          /* the candidate's own allocations lie between guards */
    pid_t self;
};
extern struct runner runner;

/* Is this a process that the candidate forked? It answers nothing except by a fault. */
static inline bool runner_is_copy(void)
{
    return getpid() != runner.self;
}

/* --- runner_arena.c --- */

/* Reserves the arena and installs the filter that protects its mappings; call it before any code of the
 * candidate runs. Returns the descriptor on which the kernel asks about the runner's own mappings, and *base.
 * Returns -1 if this machine lacks such a filter or enough addresses. */
int arena_begin(uint64_t *base);
/* The address for a tensor of that many bytes; NULL: not in the arena. */
char *arena_place(unsigned slot, size_t mapped);
bool arena_holds(const void *address);

/* --- runner.c --- */

/* Runs after the start of the process: restricts it, installs handlers and filter, says hello, and answers
 * requests until the channel ends. `without` names the disabled defences. Returns the exit status. */
int runner_serve(const char *without);

/* --- runner_python.c --- */

/* Returns 0, or an enum reply_failure with a message in text (CHANNEL_TEXT bytes). */
int python_load(const struct request *request, char *text);
/* The set is unmapped; CHANNEL_EVERY_SET: all sets. `keep`: its model may be reused for the next mapping. */
void python_forget(uint32_t set, bool keep);
/* Creates views of the tensors, and prepares the candidate's class for a call. False: `reply` says why it
 * failed. */
bool python_prepare(const struct request *request, void *stream, struct reply *reply);
/* Returns 0 if the candidate's result can be used. */
int python_call(void);
double python_ended_ms(void); /* time at which the candidate itself returned, by call_clock_ms; 0: unknown */
/* After the call, with an idle device: copies the result to the outputs, or sets `reply` to the reason why
 * not. */
void python_finish(struct reply *reply);

/* --- runner_guarded.c --- */

/* If an allocation failed, torch has passed a null pointer on, so any later failure is not the candidate's
 * fault: sets `reply` to RETURNED_SHORT and returns true. */
bool own_excuse(struct reply *reply);
/* After a call of a candidate whose own allocations lie between guards, with an idle device. Sets `reply` to
 * DEVICE_ERROR if something was written next to an allocation, or to RETURNED_SHORT if an allocation failed.
 * Releases freed blocks. */
void own_settle(struct reply *reply);
/* Releases freed blocks; the device must be idle. */
void own_release(void);

/* --- runner_poison.c --- */

/* Overwrites the C library's free memory in this thread's heap (DEFENCE_POISON), without allocating or
 * freeing. Cached blocks below 1 KiB, and the heaps of other threads, are not changed. */
void poison_heap(void);

/* --- runner_fault.c --- */

/* Restores handlers, alternate stack and signal mask, which a candidate may have changed. */
void fault_arm(void);

/* --- runner_audit.c --- */

/* With CHANNEL_AUDIT as the last word: keeps a page of every object mapped that is loaded from now on. Call
 * it first. */
void audit_begin(int argc, char **argv);

/* --- runner_coverage.c --- */

/* From now on the tracing functions write into this map (coverage_map.h); the candidate was loaded. */
void coverage_attach(void *base, size_t bytes);

/* --- runner_launches.c --- */

/* Requests that launched kernels are recorded (--forbid). */
void launches_want(void);
/* Starts recording on an open device, before any code of the candidate runs; further calls do nothing. If
 * kernels cannot be recorded, `why` (CHANNEL_TEXT bytes) says so. Does nothing unless requested. */
void launches_begin(char *why);
/* Whether launches from now on are the candidate's. */
void launches_listen(bool on);
/* Writes new records that fit, "KERNEL TAB OBJECT LF" each. `text` has CHANNEL_TEXT bytes, all zero. */
void launches_tell(char *text);

/* --- runner_state.c --- */

/* Saves the state for state_restore, once, before any code of the candidate runs. */
void state_keep(void);
/* Restores the process's state before every call: floating-point modes, environment, working directory,
 * umask, locale, standard descriptors, signals (with fault_arm), timers, the calling thread's scheduling, and
 * lowered limits. On a device it also calls device_state_restore. Before state_keep: fault_arm only. */
void state_restore(void);

/* --- runner_filter.c --- */

/* Installs the system call filter in this process and its children: no call that affects other processes, and
 * the handlers of fault_arm stay. Call it before any code of the candidate runs. */
void filter_calls(void);

/* --- runner_call.c --- */

/* Prepares the candidate's arguments; the request's set, tensors and offsets were checked. False: an argument
 * has an unknown type. */
bool call_prepare(const struct request *request, void *stream);
/* Makes the prepared call; returns the candidate's return value. */
int call_candidate(void);
/* A call on the host with cold caches; fills reply's kind, value and times. */
void call_host(const struct request *request, struct reply *reply);
double call_clock_ms(void); /* monotonic */

/* --- runner_cuda.c: each returns 0, or an enum reply_failure with a message in text (CHANNEL_TEXT bytes)
 * --- */

int device_open(int ordinal, char *text); /* makes the primary context current and creates the stream */
void *device_stream(void);
int device_map(struct slot *slot, int fd, size_t mapped, char *text);
void device_unmap(struct slot *slot);
/* Waits until the device is idle; sets reply to DEVICE_ERROR if the device has failed. */
void device_rest(struct reply *reply);
/* Makes the prepared call with cold caches and waits until the device is idle. reply becomes RETURNED,
 * DEVICE_ERROR or FAILED. */
void device_call(const struct request *request, struct reply *reply);

/* --- runner_state_cuda.c --- */

#ifdef HAVE_CUDA
#include <cuda.h>

/* Saves the context and stream that every call gets; call it before the candidate is loaded. */
void device_state_keep(int ordinal, CUcontext context, CUstream stream);
#endif
/* Restores the current context, its scheduling flags, cache preferences, lowered limits, and the stream's
 * window of persisting lines; ends a capture left open. Does nothing before device_state_keep. */
void device_state_restore(void);

#endif
