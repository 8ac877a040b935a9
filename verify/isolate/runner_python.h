/* What the interpreter's side (verify/python/runner.py) sees of a call; it mirrors these structures. */
#ifndef UNSEEN_RUNNER_PYTHON_H
#define UNSEEN_RUNNER_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "channel.h"

/* What free memory of a device holds: NaN in every format of numbers, -1 where they are whole. */
#define DEVICE_POISON 0xffffffffu

/* Strides are in elements. What came back is the interpreter's to fill in. */
struct python_tensor {
    char name[CHANNEL_NAME];
    int32_t dtype, role, rank, size; /* size: bytes of an element */
    int64_t returned;                /* there is a tensor for it, which lies elsewhere: */
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
    int64_t own; /* what the candidate allocates itself is to lie between guards (runner_own.c) */
    void *stream;
    char text[CHANNEL_TEXT]; /* the interpreter's words where it returns anything but PYTHON_DONE */
    struct python_tensor tensor[CHANNEL_TENSORS];
    struct python_argument argument[CHANNEL_ARGUMENTS];
};

/* What a callback returns; load: 0 or an enum reply_failure. */
enum python_answer { PYTHON_DONE, PYTHON_REFUSED, PYTHON_RAISED, PYTHON_SHORT };

/* Called with the interpreter's lock not held; they take it. */
struct python_callbacks {
    int (*load)(const char *path, const char *symbol, const char *entry, const char *adapter);
    int (*prepare)(void); /* views, and what the candidate's class needs before its first call */
    int (*call)(void);    /* the candidate, between unseen_started and unseen_ended; then what it returned */
    int (*pack)(int tensor); /* what was returned for it becomes dense: rows in order, without gaps */
    void (*forget)(int64_t set, int64_t keep);
};

/* runner_python_cuda.c: from `back`, which has no gaps, to `data` on the device, which is at rest before and after. 0, or the
 * driver's error with words in text (CHANNEL_TEXT bytes). */
int python_copy_device(const struct python_tensor *tensor, char *text);
/* So many bytes at a device address, whole words, are overwritten on the runner's stream before the call begins. False: the driver
 * says that they cannot be. */
bool python_poison_device(uint64_t address, uint64_t bytes);

#endif
