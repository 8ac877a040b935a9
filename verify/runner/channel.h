/* Messages between the judging process and the runner: fixed-size packets over a SOCK_SEQPACKET socketpair,
 * which is descriptor 3 in the runner. The judge says what to load, which memory to map, and with which
 * arguments to call. The runner never learns expected values, seeds, input classes, or what comes next. It
 * only answers "returned r", or how it failed. */
#ifndef UNSEEN_CHANNEL_H
#define UNSEEN_CHANNEL_H

#include <stdint.h>

#include "problems/problem.h"

enum {
    CHANNEL_FD = 3,
    CHANNEL_TENSORS = PROBLEM_MAX_TENSORS,
    CHANNEL_ARGUMENTS = PROBLEM_MAX_ARGUMENTS,
    CHANNEL_SETS = 16, /* sets of tensors that can be mapped at once: configurations, and copies of each */
    CHANNEL_SLOTS = CHANNEL_SETS * CHANNEL_TENSORS,
    CHANNEL_EVERY_SET = CHANNEL_SETS, /* for UNMAP */
    CHANNEL_REGIONS = 256,            /* numbers of regions whose mappings stay; 0: of none */
    CHANNEL_TEXT = 512,
    CHANNEL_NAME = 32
};

/* The tensor in a slot, for a candidate that gets tensors instead of addresses. */
struct channel_tensor {
    char name[CHANNEL_NAME];
    uint32_t dtype, role, rank,
        size; /* enum dtype, enum tensor_role; rank; bytes of an element (0: not specified) */
    int64_t dim[PROBLEM_MAX_RANK];
    int64_t pitch; /* elements between the starts of rows */
};

/* A scalar that is passed to the candidate by value. */
struct channel_argument {
    uint32_t type; /* enum argument_type */
    union {
        int64_t whole; /* integers and bools */
        double real;
    } value;
};

/* The message for argument `number` of an instance. */
static inline struct channel_argument argument_of(const struct problem *problem,
                                                  const struct instance *instance, int number)
{
    const enum argument_type type = problem->arguments[number].type;
    struct channel_argument argument = {.type = type};
    if (type == ARGUMENT_F32 || type == ARGUMENT_F64)
        argument.value.real = instance->scalar[number];
    else
        argument.value.whole = instance->extent[number];
    return argument;
}

/* There is only one kind of call: the runner cannot tell checked, timed and other calls apart. */
enum request_kind { REQUEST_LOAD = 1, REQUEST_MAP, REQUEST_UNMAP, REQUEST_CALL };

/* How a call on a GPU is timed; calls on the host are all timed alike. */
enum call_mode {
    CALL_EVENTS, /* between events on its stream */
    CALL_ASK,    /* the same, and checks whether work runs elsewhere while the stream is held */
    CALL_WALL    /* by the host's clock, between two moments when the device is idle */
};

struct request {
    uint32_t kind;
    uint32_t sequence;       /* echoed; a reply with another number is garbage */
    uint32_t backend;        /* LOAD */
    int32_t device;          /* LOAD: CUDA ordinal */
    char path[CHANNEL_TEXT]; /* LOAD: the shared object; empty: only open the device or the arena */
    char symbol[64];         /* LOAD */
    char entry[64];          /* LOAD, Python: the class or function; empty: found by name */
    /* LOAD, Python: adapter that binds the problem to the candidate; empty: none */
    char adapter[CHANNEL_TEXT];
    char names[CHANNEL_TEXT]; /* LOAD, Python: names of the arguments, separated by blanks */
    uint32_t control;         /* LOAD, empty path: no candidate follows, and calls return at once */
    uint32_t own;  /* LOAD, Python, CUDA: the candidate's own allocations lie between guards, too */
    uint32_t set;  /* MAP, UNMAP, CALL: set of tensors, < CHANNEL_SETS */
    uint32_t keep; /* UNMAP, Python: the model may be reused for the next mapping */
    uint32_t slot; /* MAP: tensor index; the packet carries the descriptor */
    /* MAP: number of the region. Above 0 its mapping outlives the set, and the next MAP of this number needs
     * no descriptor */
    uint32_t region;
    uint32_t coverage;                /* MAP: it takes the coverage of an instrumented candidate */
    uint64_t mapped;                  /* MAP: bytes, in whole granules */
    struct channel_tensor tensor;     /* MAP */
    uint32_t tensors, arguments;      /* CALL */
    uint64_t offset[CHANNEL_TENSORS]; /* byte offset of each tensor in its region */
    struct channel_argument argument[CHANNEL_ARGUMENTS];
    uint64_t flush_bytes; /* CALL: overwrite this many bytes before it (CUDA) */
    uint32_t mode;        /* CALL: enum call_mode */
};

enum reply_kind {
    REPLY_DONE = 1,    /* LOAD, MAP, UNMAP succeeded */
    REPLY_RETURNED,    /* CALL: the candidate returned `value`, and the device is idle */
    REPLY_FAILED,      /* LOAD, MAP or CALL failed: `text` says why; value: enum reply_failure */
    REPLY_FAULT,       /* caught SIGSEGV/SIGBUS: slot of the region nearest to the address, or -1 */
    REPLY_DEVICE_ERROR /* CUDA: value is the CUresult after the call, text its name */
};
enum reply_failure {
    FAILURE_LOAD = 1,
    FAILURE_SYMBOL,
    FAILURE_MEMORY,
    FAILURE_DEVICE,
    FAILURE_RAISED /* Python: an exception, or a result of the wrong type */
};

/* Return value that means out of memory, while any other nonzero value is a refusal. It applies to a module,
 * and to a kernel on a GPU, which returns cudaErrorMemoryAllocation. */
enum { RETURNED_SHORT = 2 };

struct reply {
    uint32_t magic; /* CHANNEL_MAGIC */
    uint32_t kind;
    uint32_t sequence;
    int32_t value;
    int32_t slot;   /* FAULT: tensor whose guard was hit, or -1 */
    uint32_t below; /* FAULT: 1 if below the region, 0 if above */
    uint64_t
        /* FAULT: bytes past the edge of the granules; for slot -1 the address. LOAD without a path, host: the
         * arena (arena.h), whose descriptor the packet carries; 0: there is none */
        distance;
    uint32_t outside;        /* CALL, CALL_ASK: outputs changed while the stream was held */
    double event_ms;         /* CALL: between CUDA events; host: monotonic clock */
    double wall_ms;          /* CALL: from the release of its stream until the device is idle */
    double tail_ms;          /* CALL: from the stop event until the device is idle; 0 without events */
    char text[CHANNEL_TEXT]; /* RETURNED other than 0: the candidate's reason */
    /* With CHANNEL_AUDIT, on CUDA. LOAD: why kernels cannot be recorded; empty: they are. RETURNED: newly
     * launched kernels, one per line: the name, a tab, the path of the launching object */
    char launched[CHANNEL_TEXT];
};
#define CHANNEL_MAGIC 0x756e736eu
/* Last word of the runner's command line: unloaded objects stay visible from outside. */
#define CHANNEL_AUDIT "--audit"

#endif
