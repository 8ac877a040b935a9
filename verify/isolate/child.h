/* The judging side of the isolated runner: start it, give it memory, have it call the candidate. */
#ifndef UNSEEN_CHILD_H
#define UNSEEN_CHILD_H

#include "channel.h"
#include "python.h"
#include "reports/result.h"
#include "verify/device/region.h"

struct child; /* one runner process with one candidate loaded */

enum child_status {
    CHILD_OK,      /* the call came back; see returned */
    CHILD_LOAD,    /* the object cannot be loaded: text has dlopen's words */
    CHILD_SYMBOL,  /* the object lacks the symbol */
    CHILD_MEMORY,  /* not enough memory for the mapping */
    CHILD_DEVICE,  /* no usable device in the child */
    CHILD_OVERRUN, /* fault next to a tensor (host: address in a guard; CUDA: illegal address) */
    CHILD_CRASH,   /* any other signal, exit, abort, CUDA error: text says which */
    CHILD_RAISED,  /* a module raised an error, or returned what is no result; the process lives on */
    CHILD_KILLED,  /* signal 9, from wherever: a lack of memory, a hand, itself */
    CHILD_TIMEOUT,
    CHILD_EXCEEDED, /* it held more memory, or more processes, than it may: text says which and how much */
    CHILD_OVER,     /* --budget was over meanwhile: nobody's fault */
    CHILD_GARBAGE,  /* it wrote something else on its channel: evidence of cheating */
    CHILD_SPAWN,    /* the runner could not be started: environment error */
    CHILD_SHORT,    /* the candidate wanted memory while it was loaded, and did not get it */
    CHILD_STATUSES
};
const char *child_status_name(enum child_status status); /* "load", "spawn", ... */

/* Who answers for it. Of CHILD_MEMORY, CHILD_DEVICE and CHILD_SHORT this is what it is until more is known: a session asks
 * whether a process without the candidate ends so, and how much memory was left. */
enum owner child_status_owner(enum child_status status);

enum { CHILD_SEVERAL = 16 };

struct child_options {
    enum backend backend;
    int device;         /* CUDA ordinal */
    const char *object; /* absolute path of the shared object */
    const char *symbol;
    const struct python *python; /* how a module is run; NULL: `object` is a shared object */
    bool own;                    /* of a module on a GPU: what it allocates itself lies between guards, too */
    bool control; /* `object` is not loaded, and calls return at once: what exchanges take by themselves */
    double load_timeout;  /* seconds for the candidate's own part: its object, its constructors */
    double memory;        /* bytes that its processes may hold together; 0: any */
    int threads;          /* OMP_NUM_THREADS in the child */
    const char *log_path; /* what the candidate prints is appended until the file has 64 KiB
                             * (all starts together), the rest is discarded; NULL: all of it */
};

/* Start a runner and load the candidate. On anything but CHILD_OK, *child is NULL and text says
 * why. The child runs in its own session, with an emptied environment (PATH, LD_LIBRARY_PATH,
 * CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER, HOME=/nonexistent, OMP_NUM_THREADS, OMP_WAIT_POLICY kept or set),
 * no descriptors but 0-2 and the channel, no core files, files of 64 MiB at most, first in line when memory
 * is out, and dies with the thread that started it: start children from a thread that outlives them. Where
 * bubblewrap works (see child_sandbox) also in its own user, process, network and IPC namespaces. Several
 * threads may each use children of their own. */
enum child_status child_start(struct child **child, const struct child_options *options, char *text,
                              size_t text_size);

/* What came of one of several that are started at once. */
struct child_started {
    struct child *child; /* NULL: */
    enum child_status status;
    char text[320];
};

/* The same for several at once: a GPU's driver takes its time for each, and others wait meanwhile. None is started, and all are
 * CHILD_SPAWN, where it is not known yet how one of this backend starts, and where an interpreter forks. */
void child_start_several(struct child_started *started, const struct child_options *options, int count);

/* In all calls below, after anything but CHILD_OK and CHILD_RAISED the process is gone: child_stop, start anew. */

/* `slot` is the tensor's number in set `set` (below CHANNEL_SETS). The mappings live as long as the process or until
 * child_unmap. */
enum child_status child_map(struct child *child, int set, int slot, const struct region *region, char *text,
                            size_t text_size);
/* The same, and what lies there, for a candidate in Python. */
enum child_status child_map_tensor(struct child *child, int set, int slot, const struct region *region,
                                   const struct channel_tensor *tensor, char *text, size_t text_size);
/* Every slot of the set; CHANNEL_EVERY_SET: of all. */
enum child_status child_unmap(struct child *child, int set, char *text, size_t text_size);
/* The same; the model that was made for the set serves what is mapped next, too, where it is constructed of the same. */
enum child_status child_unmap_and_keep(struct child *child, int set, char *text, size_t text_size);

struct call {
    int set; /* of tensors */
    int tensors, arguments;
    uint64_t offset[CHANNEL_TENSORS];
    struct channel_argument argument[CHANNEL_ARGUMENTS];
    uint64_t flush_bytes; /* overwritten before it, so that no cache holds anything (CUDA) */
    enum call_mode mode;
};

/* What the runner says of a call. The first call of a process also pays for page faults of the first touch, loading of
 * modules, OpenMP's threads. Host: one clock, twice. */
struct child_answer {
    int returned; /* by the candidate */
    char words
        [CHANNEL_TEXT]; /* where it returned anything but 0: its reason, in plain letters; may be empty */
    bool
        outside; /* CALL_ASK: it works on other streams than the one that it is given, and does not wait for it */
    double event_ms; /* between events on the stream; CALL_WALL: wall_ms */
    double wall_ms;  /* until the device is idle */
    double tail_ms;  /* of it, after the stop event */
    double
        judge_ms; /* by this process's clock, from asking to the answer: what the runner cannot say shorter */
};

/* One call of the candidate, cold, all alike. */
enum child_status child_call(struct child *child, const struct call *call, double timeout,
                             struct child_answer *answer, char *text, size_t text_size);

/* After CHILD_OVERRUN on the host: which tensor's guard was hit, on which side, and how many
 * bytes beyond the edge of its granules. slot is -1 where that is not known (CUDA: an illegal
 * address has no owner). */
struct child_fault {
    int slot;
    bool below;
    uint64_t distance;
};
struct child_fault child_fault(const struct child *child);

void child_stop(struct child *child); /* kills the whole session; NULL is fine */
void child_stop_all(void);            /* async-signal-safe, for SIGINT; running compilers too */

int child_count(void); /* running ones of this process, compilers too */

/* How candidates are isolated on this machine, one line for the report: on the backend started
 * last (before the first start: the host). UNSEEN_NO_SANDBOX=1 in the environment turns
 * bubblewrap off. Valid until the next call. */
const char *child_sandbox(void);
const char *child_no_sandbox(void); /* why there is no sandbox; NULL: there is one */

#endif
