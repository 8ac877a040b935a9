/* A series of calls of one configuration, each on another content and in one of several buffers, a few of whose outputs
 * are judged. Which, the candidate cannot know: it is decided when the call has returned, and nothing is done for these
 * calls that is not done for all. Internal to sessions. */
#ifndef UNSEEN_SERIES_H
#define UNSEEN_SERIES_H

#include "fingerprints.h"

/* Outputs that are kept to be judged: in `got` and in `before` of each slot. */
enum { KEEP_FRESH, KEEP_NEAR, KEEP_COUNT };

/* A call whose output is kept. */
struct kept {
    int number;     /* of the call, from 1; 0: none */
    int candidates; /* calls that it was chosen among, so far */
    struct content content;
    struct call call;
    struct call_result inspected; /* its inputs and slack */
};

struct series {
    const struct config *config;
    struct setup *setup;
    struct instance instance; /* of `instantiated` */
    int instantiated;
    struct pcg *random;
    struct content content; /* of the last call */
    int drawn;              /* content in `own` */
    int ring;               /* and where the last call was */
    enum placement placement;
    int calls;
    double flush_ms; /* host: what emptying the caches takes */
    /* Numbers of the calls to be kept, by enum; NULL: one, chosen evenly among all of the kind `kind`. */
    const int *wanted;
    int kind;
    bool every;                  /* in their place: each call, for whoever judges it before the next */
    bool plain;                  /* one set of buffers, which series_place alone fills */
    struct fingerprints *prints; /* of calls that count; NULL: none are taken */
    struct pcg *choice;          /* of these calls */
    struct kept kept[KEEP_COUNT];
    struct call_result ended; /* how the series ended, where not well; else OUTCOME_PASS */
    const char *where;        /* for people: "a timed call" */
};

/* What one call of a series took. */
struct series_call {
    bool counts; /* its time: not the first call, not on a near duplicate, not one that asks */
    bool
        outside; /* it was found that the candidate works outside its stream: times taken before say nothing */
    struct clocks clocks;
    double tail_ms; /* until the device is idle, after the event */
    double
        rest_ms; /* of the judge's clock, what the runner says it was not the call, and flushing was not either */
};

/* Set up s->now for it: memory, first content. -1 where memory is short. s->status says when something else failed. */
int series_open(struct series *series, struct session *s, const struct config *config, int base);
void series_close(struct series *series, struct session *s);

/* The next call. False when the series is over: series->ended, or s->status, says why. */
bool series_call(struct series *series, struct session *s, struct series_call *out);

/* A content of another series of the configuration into the buffers, and the call that is to see it. */
bool series_place(struct series *series, struct session *s, const struct content *content,
                  enum placement placement, struct call *call);

/* Judge what was kept, into series->ended and totals; false: s->status says why. */
bool series_judge(struct series *series, struct session *s, struct totals *totals);

#endif
