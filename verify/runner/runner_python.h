/* Structures of a call that the interpreter's part (unseen_torch/runner/serve.py) mirrors. */
#ifndef UNSEEN_RUNNER_PYTHON_H
#define UNSEEN_RUNNER_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "channel.h"

/* Poison of a device's free memory: NaN in every floating-point format, -1 in integers. */
#define DEVICE_POISON 0xffffffffu

/* Strides are in elements. The interpreter fills in the fields of the result. */
struct python_tensor {
    char name[CHANNEL_NAME];
    int32_t dtype, role, rank, size; /* size: bytes per element */
    int64_t returned;                /* the candidate returned a tensor, which is located at `back` */
    int64_t dim[PROBLEM_MAX_RANK], stride[PROBLEM_MAX_RANK];
    void *data;
    void *back;
    int64_t back_stride[PROBLEM_MAX_RANK];
};

struct python_argument {
    char name[CHANNEL_NAME];
    int64_t type; /* enum argument_type */
    int64_t whole;
    double real;
};

struct python_plan {
    int64_t backend, device, set, tensors, arguments;
    int64_t own; /* the candidate's own allocations lie between guards (runner_guarded.c) */
    void *stream;
    char text[CHANNEL_TEXT]; /* the interpreter's message for any result but PYTHON_DONE */
    struct python_tensor tensor[CHANNEL_TENSORS];
    struct python_argument argument[CHANNEL_ARGUMENTS];
};

/* Result of a callback; load: 0 or an enum reply_failure. */
enum python_answer { PYTHON_DONE, PYTHON_REFUSED, PYTHON_RAISED, PYTHON_SHORT };

/* Called without the interpreter's lock, which they take. */
struct python_callbacks {
    int (*load)(const char *path, const char *symbol, const char *entry, const char *adapter);
    int (*prepare)(void); /* creates views, and whatever the candidate's class needs before its first call */
    /* calls the candidate between unseen_started and unseen_ended; then checks its result */
    int (*call)(void);
    int (*pack)(int tensor); /* makes the result of a tensor dense: rows in order, without padding */
    void (*forget)(int64_t set, int64_t keep);
};

/* runner_python_cuda.c: copies from the dense `back` to `data` on the device, which is idle before and after.
 * Returns 0, or the driver's error with a message in text (CHANNEL_TEXT bytes). */
int python_copy_device(const struct python_tensor *tensor, char *text);
/* Overwrites whole words at a device address on the runner's stream, before the call begins. False: the
 * driver refuses. */
bool python_poison_device(uint64_t address, uint64_t bytes);

#endif
