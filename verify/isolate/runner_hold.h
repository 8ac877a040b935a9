/* Holding a stream while the host launches, and what happens meanwhile: used by runner_cuda.c. */
#ifndef UNSEEN_RUNNER_HOLD_H
#define UNSEEN_RUNNER_HOLD_H

#ifdef HAVE_CUDA
#include "verify/device/driver.h"
#include "runner_internal.h"

struct hold {
    const struct driver *driver;
    CUstream beside; /* ordered with nothing */
    CUfunction kernel;
    struct hold_flags *flags; /* pinned: host and device see it at one address */
};

/* What it needs, once. Returns what the driver says, and *failed the step. */
CUresult hold_open(struct hold *hold, const struct driver *driver, const char **failed);

/* From here on the stream waits for hold_end, but no longer than `ns`: a candidate that waits for the stream itself
 * would never return. */
CUresult hold_begin(struct hold *hold, CUstream stream, uint64_t ns);
void hold_end(struct hold *hold);
bool hold_lasts(const struct hold *hold); /* the stream is still held */

/* A few words of each of the request's tensors. */
enum { HOLD_WORDS = 64 };
struct hold_look {
    uint32_t word[CHANNEL_TENSORS][HOLD_WORDS];
};
CUresult hold_look(struct hold *hold, const struct request *request, struct hold_look *look);
#endif

#endif
