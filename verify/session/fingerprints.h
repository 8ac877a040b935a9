/* Fingerprints of a configuration's timed calls: 8 bytes of their outputs, to be recomputed by another
 * process. A separate random stream selects the calls, after each has returned. Internal to sessions. */
#ifndef UNSEEN_FINGERPRINTS_H
#define UNSEEN_FINGERPRINTS_H

#include "buffers.h"

enum { FINGERPRINTS_MOST = 8 };

struct fingerprint {
    uint64_t
        /* random priority: the calls with the lowest are kept, a uniform sample of any number of calls */
        draw;
    uint64_t sum; /* fingerprint of the outputs (memory.h) */
    int number;   /* number of the call */
    struct content content;
    enum placement placement;
};

struct fingerprints {
    uint64_t key;
    int base; /* the series' first draw */
    int count;
    struct fingerprint item[FINGERPRINTS_MOST];
    int calls;      /* number of calls of the series */
    double seconds; /* total time of these calls */
    double first;   /* seconds of a separate first call (in which a module may compile) */
};

/* Resets the fingerprints, for a series that begins with draw `base`. */
void fingerprints_begin(struct fingerprints *prints, struct pcg *random, int base);

/* Offers a call that has returned: `print` without `draw` and `sum`, and the location of its tensors. Calls
 * are skipped when memory is short. */
bool fingerprints_take(struct fingerprints *prints, struct buffers *buffers, struct pcg *random,
                       const struct fingerprint *print, const struct call *call);

/* Sorts by the order of calls, so that the base drawn for one is reused for the next. */
void fingerprints_sort(struct fingerprints *prints);

#endif
