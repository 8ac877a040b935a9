/* Memory of a configuration's tensors: regions that the candidate shares, and the judge's copies. Placement
 * against guards, poison, and inspection after a call. It knows no process. */
#ifndef UNSEEN_BUFFERS_H
#define UNSEEN_BUFFERS_H

#include "gen/contract/space.h"
#include "call_result.h"
#include "content.h"
#include "region_image.h"
#include "status.h"
#include "verify/device/device.h"
#include "verify/device/region_pool.h"
#include "verify/worker/child.h"

/* Configurations that are set up at once for timing, and buffers of each, used in turns. */
enum { BUFFERS_SETUPS = 4, BUFFERS_RING = 3 };

/* One tensor of a configuration. */
struct slot {
    struct region region[BUFFERS_RING]; /* buffers for the candidate; a call uses one of them */
    void *own;    /* inputs and in-out tensors: the judge's copy of the drawn values; else NULL */
    void *given;  /* with rotated draws: the inputs of the judged call; else NULL */
    void *got;    /* outputs and in-out tensors: a snapshot after the call; else NULL */
    void *before; /* the snapshot of another call: the preceding one, or the second that is judged */
    size_t bytes;
    size_t row, pitch; /* bytes of a row, and between the starts of rows */
    uint32_t poison;
    struct channel_tensor tensor; /* description for a candidate that gets tensors */
};

/* A configuration with allocated memory. */
struct setup {
    struct slot slot[PROBLEM_MAX_TENSORS];
    int rings;     /* number of buffers per tensor; 0: nothing is set up */
    bool mapped;   /* mapped into the child as sets first_set, .. */
    bool constant; /* constructor arguments do not change: they are a model's weights */
    bool called;   /* the candidate was called with them */
    bool on_host;  /* copies and images in main memory, although the device is a GPU (region_image.h) */
    bool guarded_mapped, guarded_called; /* the same for the process with guarded allocations */
    int first_set;
};

struct buffers {
    const struct problem *problem;
    const struct device *device;
    const struct memory *memory;
    const char *state;  /* names of tensors that a constructor gets, between spaces; NULL: none */
    int workers;        /* number of buffers that share the machine's memory */
    bool small_on_host; /* a small configuration of a GPU is judged in main memory */
    int tensors;
    struct setup setup[BUFFERS_SETUPS];
    struct setup *now; /* the current setup: all functions below are about its tensors */
    struct region_pool pool;
    struct region_image image[PROBLEM_MAX_TENSORS]; /* of the tensors of a setup in main memory */
    void *const *copies; /* where to copy output t of the first call, in the device's memory; NULL: nowhere */
    struct status *status;
};

/* Of the current setup's copies and images. `memory` is of the device. */
static inline const struct memory *buffers_memory(const struct buffers *buffers)
{
    return buffers->now->on_host ? memory_of(BACKEND_HOST) : buffers->memory;
}

/* problem, device, state, workers, small_on_host and status are filled by the caller; the rest is set
 * here. */
void buffers_open(struct buffers *buffers);
void buffers_close(struct buffers *buffers);

/* Allocates all tensors of a configuration: `rings` regions per tensor, and with `turned` a copy for rotated
 * draws. Returns 0, or -1 with the reason in `why`; then buffers_destroy releases what was allocated. */
int buffers_create(struct buffers *buffers, const struct instance *instance, int rings, bool turned,
                   char *why, size_t why_size);
void buffers_destroy(struct buffers *buffers);

/* Does the candidate write tensor t? */
static inline bool buffers_are_written(const struct buffers *buffers, int t)
{
    return buffers->problem->tensors[t].role != TENSOR_INPUT;
}
/* Is tensor t an argument of a constructor, and no input of a call? */
bool buffers_are_state(const struct buffers *buffers, int t);

/* Writes input draw number `content` into the judge's copies. */
bool buffers_fill(struct buffers *buffers, const struct config *config, const struct instance *instance,
                  int content);
/* Puts an input draw into the regions of index `ring`, flush against one guard; everything else is poisoned.
 * content NULL: as drawn. */
bool buffers_place(struct buffers *buffers, int ring, enum placement placement, const struct content *content,
                   struct call *call);
/* Writes what buffers_place puts into regions to `given` (or a near duplicate's element to `own`), for the
 * judge. */
bool buffers_give(struct buffers *buffers, const struct content *content);
/* Contents of an input, or of an in-out tensor before the call; for an output its snapshot. */
void *slot_content(const struct slot *slot);
/* The region of tensor t in index `ring`, or its image. */
char *buffers_region(const struct buffers *buffers, int t, int ring);
/* After buffers_keep, sets the outcome for changed inputs or slack; else OUTCOME_PASS. */
bool buffers_inspect(struct buffers *buffers, const struct call *call, struct call_result *result);
/* Copies the outputs to `got`; the previous snapshot becomes `before`. */
bool buffers_snapshot(struct buffers *buffers, const struct call *call);
/* Copies the outputs to `before` or to `got`; the other is not changed. */
bool buffers_keep(struct buffers *buffers, const struct call *call, bool before);
/* Compares `got` with `before`. Bit t of *differ: tensor t has another bit pattern. */
bool buffers_compare(struct buffers *buffers, unsigned *differ);
/* Copies the outputs in `got` to `copies`. */
bool buffers_copy_outputs(struct buffers *buffers);
void buffers_swap(struct buffers *buffers); /* exchanges `got` and `before` */
/* Fingerprint of the call's outputs and in-out tensors (memory.h). Returns 0, or an error of memory.h. */
int buffers_fingerprint(const struct buffers *buffers, const struct call *call, uint64_t key, uint64_t *sum);
/* Chooses the element of a near duplicate, its new value of the same distribution, and the value it
 * replaces. */
bool buffers_choose_near(struct buffers *buffers, const struct instance *instance, struct pcg *random,
                         struct content *content);

/* The current tensors as the judge sees them, with the outputs in `got`. */
void buffers_judged(const struct buffers *buffers, struct judged_tensor *tensor);

/* The scalar arguments of a call. */
void call_arguments(const struct problem *problem, const struct instance *instance, struct call *call);

#endif
