/* The judge's interface to the isolated runner: start it, map memory into it, have it call the candidate. */
#ifndef UNSEEN_CHILD_H
#define UNSEEN_CHILD_H

#include "verify/runner/channel.h"
#include "python.h"
#include "reports/record/result.h"
#include "verify/device/region.h"

struct child; /* one runner process with one loaded candidate */

enum child_status {
    CHILD_OK,      /* the call returned; see `returned` */
    CHILD_LOAD,    /* the object cannot be loaded: text has the message of dlopen */
    CHILD_SYMBOL,  /* the object lacks the symbol */
    CHILD_MEMORY,  /* not enough memory for the mapping */
    CHILD_DEVICE,  /* no usable device in the child process */
    CHILD_OVERRUN, /* a fault next to a tensor (host: address in a guard; CUDA: illegal address) */
    CHILD_CRASH,   /* any other signal, exit, abort or CUDA error, named in text */
    CHILD_RAISED,  /* a module raised an exception, or returned a wrong type; the process lives on */
    CHILD_KILLED,  /* signal 9 from any source: out of memory, a user, the candidate itself */
    CHILD_TIMEOUT,
    CHILD_EXCEEDED, /* more memory or more processes than its limit; text has the figures */
    CHILD_OVER,     /* --budget ran out meanwhile */
    CHILD_GARBAGE,  /* it wrote to the reserved channel: evidence of cheating */
    CHILD_SPAWN,    /* the runner could not be started: environment error */
    CHILD_SHORT,    /* the candidate ran out of memory while it was loaded */
    CHILD_STATUSES
};
const char *child_status_name(enum child_status status); /* "load", "spawn", ... */

/* Who is responsible. For CHILD_MEMORY, CHILD_DEVICE and CHILD_SHORT the answer is provisional: a session
 * checks whether a process without the candidate ends the same way, and how much memory was left. */
enum owner child_status_owner(enum child_status status);

enum { CHILD_SEVERAL = 16 };

struct child_options {
    enum backend backend;
    int device;         /* CUDA ordinal */
    const char *object; /* absolute path of the shared object */
    const char *symbol;
    const struct python *python; /* how to run a module; NULL: `object` is a shared object */
    bool own;                    /* for a module on a GPU: its own allocations lie between guards, too */
    /* `object` is not loaded, and calls return at once: measures the cost of the exchange itself */
    bool control;
    double load_timeout; /* seconds for the candidate's own code: its object, its constructors */
    double memory;       /* maximum bytes of all its processes together; 0: no limit */
    int threads;         /* value of OMP_NUM_THREADS in the child */
    /* the candidate's output is appended until the file has 64 KiB (over all starts), the rest is discarded;
     * NULL: all is discarded */
    const char *log_path;
};

/* Starts a runner and loads the candidate. On any result but CHILD_OK, *child is NULL and text says why. The
 * child runs in its own session. Its environment is emptied, except for PATH, LD_LIBRARY_PATH,
 * CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER, HOME=/nonexistent, OMP_NUM_THREADS and OMP_WAIT_POLICY. It has no
 * descriptors but 0-2 and the channel, writes no core files and files of at most 64 MiB, and is the OOM
 * killer's first choice. It dies with the thread that started it, so that thread must outlive it. If
 * bubblewrap works (see child_sandbox), it also gets its own user, process, network and IPC namespaces.
 * Several threads may each use their own children. */
enum child_status child_start(struct child **child, const struct child_options *options, char *text,
                              size_t text_size);

/* The result of one of several simultaneous starts. */
struct child_started {
    struct child *child; /* NULL unless the status is CHILD_OK */
    enum child_status status;
    char text[320];
};

/* Starts several children at once, since a GPU's driver takes long for each. If it is not yet known how a
 * child of this backend starts, or an interpreter forks, none is started, and all get CHILD_SPAWN. */
void child_start_several(struct child_started *started, const struct child_options *options, int count);

/* In all calls below, after any result but CHILD_OK and CHILD_RAISED the process is gone: call child_stop and
 * start a new one. */

/* `slot` is the tensor's index in set `set` (below CHANNEL_SETS). A mapping lives as long as the process, or
 * until child_unmap; that of a region of a pool stays in the process, and mapping it again is cheap. */
enum child_status child_map(struct child *child, int set, int slot, const struct region *region, char *text,
                            size_t text_size);
/* The same with a description of the tensor, for a candidate in Python. */
enum child_status child_map_tensor(struct child *child, int set, int slot, const struct region *region,
                                   const struct channel_tensor *tensor, char *text, size_t text_size);
/* Maps the memory that takes the coverage of an instrumented candidate (verify/runner/coverage_map.h), as
 * the last set. Call it once, and never unmap that set. */
enum child_status child_map_coverage(struct child *child, const struct region *region, char *text,
                                     size_t text_size);
/* Unmaps every slot of the set; CHANNEL_EVERY_SET: of all sets. */
enum child_status child_unmap(struct child *child, int set, char *text, size_t text_size);
/* The same, but keeps the set's model: the next mapping reuses it if its constructor gets the same
 * arguments. */
enum child_status child_unmap_and_keep(struct child *child, int set, char *text, size_t text_size);

struct call {
    int set; /* set of tensors */
    int tensors, arguments;
    uint64_t offset[CHANNEL_TENSORS];
    struct channel_argument argument[CHANNEL_ARGUMENTS];
    uint64_t flush_bytes; /* overwritten before the call, so that all caches are cold (CUDA) */
    enum call_mode mode;
};

/* The runner's answer to a call. The first call of a process also pays for page faults of the first touch,
 * module loading and OpenMP's threads. On the host both times come from one clock. */
struct child_answer {
    int returned;             /* return value of the candidate */
    char words[CHANNEL_TEXT]; /* for any return value but 0: its reason, in printable ASCII; may be empty */
    bool
        /* CALL_ASK: it works on streams other than the given one, and the given one does not wait for them */
        outside;
    double event_ms; /* between events on the stream; for CALL_WALL: wall_ms */
    double wall_ms;  /* until the device is idle */
    double tail_ms;  /* part of it after the stop event */
    double judge_ms; /* by the judge's clock, from request to answer; the runner cannot shorten it */
};

/* Calls the candidate once with cold caches; all calls are alike. */
enum child_status child_call(struct child *child, const struct call *call, double timeout,
                             struct child_answer *answer, char *text, size_t text_size);

/* After CHILD_OVERRUN on the host: the tensor whose guard was hit, the side, and the distance in bytes past
 * its granules. slot is -1 if unknown (CUDA: an illegal address has no owner). */
struct child_fault {
    int slot;
    bool below;
    uint64_t distance;
};
struct child_fault child_fault(const struct child *child);

void child_stop(struct child *child); /* kills the whole session; accepts NULL */

/* Lets the first child from now on decide again what processes on a GPU may see. Call it while there is
 * none. */
void child_settle_again(void);

/* How candidates are isolated, one line for the report, for the backend of the last start (initially the
 * host). UNSEEN_NO_SANDBOX=1 in the environment disables bubblewrap. Valid until the next call. */
const char *child_sandbox(void);
const char *child_no_sandbox(void); /* why there is no sandbox; NULL: there is one */

#endif
