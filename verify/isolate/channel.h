/* The messages between the judging process and the runner: fixed-size packets over a
 * SOCK_SEQPACKET socketpair that the runner finds as descriptor 3. The runner is told what to
 * load, which memory to map and with which arguments to call; it never learns expected values,
 * seeds, input classes, nor what comes next. It can only answer "returned r" (or how it failed). */
#ifndef UNSEEN_CHANNEL_H
#define UNSEEN_CHANNEL_H

#include <stdint.h>

#include "problems/problem.h"

enum {
    CHANNEL_FD = 3,
    CHANNEL_TENSORS = PROBLEM_MAX_TENSORS,
    CHANNEL_ARGUMENTS = PROBLEM_MAX_ARGUMENTS,
    CHANNEL_SETS = 16, /* of tensors that can be mapped at once: configurations, and copies of each */
    CHANNEL_SLOTS = CHANNEL_SETS * CHANNEL_TENSORS,
    CHANNEL_EVERY_SET = CHANNEL_SETS, /* UNMAP */
    CHANNEL_TEXT = 512,
    CHANNEL_NAME = 32
};

/* What lies in a slot, for a candidate that is given tensors and not addresses. */
struct channel_tensor {
    char name[CHANNEL_NAME];
    uint32_t dtype, role, rank,
        size; /* enum dtype, enum tensor_role; bytes of an element. size 0: not said */
    int64_t dim[PROBLEM_MAX_RANK];
    int64_t pitch; /* elements from row to row */
};

/* A scalar that goes to the candidate by value. */
struct channel_argument {
    uint32_t type; /* enum argument_type */
    union {
        int64_t whole; /* whole numbers and bools */
        double real;
    } value;
};

/* Argument `number` of an instance, as it is sent. */
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

/* There is one kind of call: the runner does not know which are checked, which are timed, and which are neither. */
enum request_kind { REQUEST_LOAD = 1, REQUEST_MAP, REQUEST_UNMAP, REQUEST_CALL };

/* How a call on a GPU is timed; a host's all alike. */
enum call_mode {
    CALL_EVENTS, /* between events on its stream */
    CALL_ASK,    /* the same, and whether work is done while the stream is held */
    CALL_WALL    /* by the host's clock, between two moments at which the device is idle */
};

struct request {
    uint32_t kind;
    uint32_t sequence;            /* echoed: an answer to anything else is garbage */
    uint32_t backend;             /* LOAD */
    int32_t device;               /* LOAD: CUDA ordinal */
    char path[CHANNEL_TEXT];      /* LOAD: the shared object; empty: only open the device, or the arena */
    char symbol[64];              /* LOAD */
    char entry[64];               /* LOAD, Python: the class or function to take; empty: what is found */
    char adapter[CHANNEL_TEXT];   /* LOAD, Python: who binds the problem to the candidate; empty: nobody */
    char names[CHANNEL_TEXT];     /* LOAD, Python: of the arguments, with blanks between them */
    uint32_t control;             /* LOAD, empty path: no candidate follows, and calls return at once */
    uint32_t own;                 /* LOAD, Python, CUDA: what it allocates itself lies between guards, too */
    uint32_t set;                 /* MAP, UNMAP, CALL: of tensors, < CHANNEL_SETS */
    uint32_t keep;                /* UNMAP, Python: the model may serve what is mapped next */
    uint32_t slot;                /* MAP: tensor number; the descriptor travels with the packet */
    uint64_t mapped;              /* MAP: bytes, whole granules */
    struct channel_tensor tensor; /* MAP */
    uint32_t tensors, arguments;  /* CALL */
    uint64_t offset[CHANNEL_TENSORS]; /* byte offset of each tensor in its region */
    struct channel_argument argument[CHANNEL_ARGUMENTS];
    uint64_t flush_bytes; /* CALL: overwrite this much before it (CUDA) */
    uint32_t mode;        /* CALL: enum call_mode */
};

enum reply_kind {
    REPLY_DONE = 1,    /* LOAD, MAP, UNMAP done */
    REPLY_RETURNED,    /* CALL: the candidate returned `value` and the device is drained */
    REPLY_FAILED,      /* LOAD, MAP, CALL not done: `text` says why; value: enum reply_failure */
    REPLY_FAULT,       /* caught SIGSEGV/SIGBUS: slot of the region next to the address, or -1 */
    REPLY_DEVICE_ERROR /* CUDA: value is the CUresult after the call; text its name */
};
enum reply_failure {
    FAILURE_LOAD = 1,
    FAILURE_SYMBOL,
    FAILURE_MEMORY,
    FAILURE_DEVICE,
    FAILURE_RAISED /* Python: an exception, or a result that is none */
};

/* What stands for want of memory in the place of any other refusal: of a module, and of a kernel on a GPU, which passes on
 * cudaErrorMemoryAllocation. */
enum { RETURNED_SHORT = 2 };

struct reply {
    uint32_t magic; /* CHANNEL_MAGIC */
    uint32_t kind;
    uint32_t sequence;
    int32_t value;
    int32_t slot;   /* FAULT: tensor whose guard was hit, or -1 */
    uint32_t below; /* FAULT: 1 when below the region, 0 above */
    uint64_t
        distance; /* FAULT: bytes past the edge of the granules; slot -1: the address. LOAD without a path, host: the
                        * arena (arena.h), of which a descriptor travels with the packet; 0: there is none */
    uint32_t outside; /* CALL, CALL_ASK: outputs changed while the stream was held */
    double event_ms;  /* CALL: CUDA events around it; host: monotonic clock */
    double wall_ms;   /* CALL: from when its stream is free until the device is idle */
    double tail_ms;   /* CALL: from the stop event until the device is idle; 0 where there is no event */
    char text[CHANNEL_TEXT]; /* RETURNED, other than 0: the candidate's reason */
    /* With CHANNEL_AUDIT, CUDA. LOAD: why kernels cannot be named; empty: they are. RETURNED: kernels that nobody was told of
     * yet, a line each: the name, a tab, the path of the object that has launched it */
    char launched[CHANNEL_TEXT];
};
#define CHANNEL_MAGIC 0x756e736eu
/* Last on the runner's command line: objects that were unloaded stay visible from outside. */
#define CHANNEL_AUDIT "--audit"

#endif
