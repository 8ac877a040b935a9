/* Fingerprints of a configuration's timed calls: what their outputs were, in 8 bytes each, for a process of its own to compute
 * again. Of which calls, is decided when each has returned, by a stream that nothing else draws from. Internal to sessions. */
#ifndef UNSEEN_FINGERPRINTS_H
#define UNSEEN_FINGERPRINTS_H

#include "session_internal.h"

enum { FINGERPRINTS_MOST = 8 };

struct fingerprint {
    uint64_t
        draw; /* the calls with the least are kept: evenly chosen among all, however many there come to be */
    uint64_t sum; /* of the outputs (memory.h) */
    int number;   /* of the call */
    struct content content;
    enum placement placement;
};

struct fingerprints {
    uint64_t key;
    int base; /* the series' first content */
    int count;
    struct fingerprint item[FINGERPRINTS_MOST];
    int calls;      /* of the series */
    double seconds; /* that these took */
    double first;   /* seconds of a first call, where that was made for itself (a module's may compile) */
};

/* None yet, of a series that begins with that content. */
void fingerprints_begin(struct fingerprints *prints, struct pcg *random, int base);

/* A call that has returned: `print`, but for `draw` and `sum`, and where its tensors lie. What lacks memory is left out. */
bool fingerprints_take(struct fingerprints *prints, struct session *s, struct pcg *random,
                       const struct fingerprint *print, const struct call *call);

/* In the order in which they were called: what is drawn for the one serves the next. */
void fingerprints_sort(struct fingerprints *prints);

#endif
