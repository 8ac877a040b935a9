/* Holds a stream while the host launches, and observes memory meanwhile; used by runner_cuda.c. */
#ifndef UNSEEN_RUNNER_HOLD_H
#define UNSEEN_RUNNER_HOLD_H

#ifdef HAVE_CUDA
#include "verify/device/driver.h"
#include "runner_internal.h"

struct hold {
    const struct driver *driver;
    CUstream beside; /* not ordered with other streams */
    CUfunction kernel;
    struct hold_flags *flags; /* pinned: host and device use the same address */
};

/* Allocates its resources once. Returns the driver's result; *failed names the step. */
CUresult hold_open(struct hold *hold, const struct driver *driver, const char **failed);

/* The stream waits for hold_end from here on, but at most `ns`: a candidate that synchronizes the stream
 * itself would otherwise never return. */
CUresult hold_begin(struct hold *hold, CUstream stream, uint64_t ns);
void hold_end(struct hold *hold);
bool hold_lasts(const struct hold *hold); /* is the stream still held? */

/* A sample of words of each tensor of the request. */
enum { HOLD_WORDS = 64 };
struct hold_look {
    uint32_t word[CHANNEL_TENSORS][HOLD_WORDS];
};
CUresult hold_look(struct hold *hold, const struct request *request, struct hold_look *look);
#endif

#endif
