/* A series of calls of one configuration. Each call is on another input draw and in one of several buffers; a
 * few outputs are judged. The candidate cannot know which: this is decided after the call has returned, and
 * all calls are otherwise treated alike. Internal to sessions. */
#ifndef UNSEEN_SERIES_H
#define UNSEEN_SERIES_H

#include "fingerprints.h"
#include "session_internal.h"
#include "session_timing.h"
#include "clocks.h"

/* Outputs kept for judgement: in `got` and in `before` of each slot. */
enum { KEEP_FRESH, KEEP_NEAR, KEEP_COUNT };

/* A call whose output is kept. */
struct kept {
    int number;     /* number of the call, from 1; 0: none */
    int candidates; /* number of calls it was chosen from so far */
    struct content content;
    struct call call;
    struct call_result inspected; /* inspection of its inputs and slack */
};

struct series {
    const struct config *config;
    struct setup *setup;
    struct instance instance; /* instance of draw `instantiated` */
    int instantiated;
    struct pcg *random;
    struct content content; /* draw of the last call */
    int drawn;              /* number of the draw in `own` */
    int ring;               /* index of the last call's buffers */
    enum placement placement;
    int calls;
    double flush_ms; /* host: time to flush the caches */
    /* Numbers of the calls to keep, by enum; NULL: keep one, chosen uniformly among all calls of kind
     * `kind`. */
    const int *wanted;
    int kind;
    bool every;                  /* keep each call instead, for a caller that judges it before the next */
    bool plain;                  /* one set of buffers, which only series_place fills */
    struct fingerprints *prints; /* fingerprints of counting calls; NULL: not taken */
    struct pcg *choice;          /* random stream that selects these calls */
    struct kept kept[KEEP_COUNT];
    struct call_result ended; /* how the series ended; OUTCOME_PASS if well */
    const char *where;        /* description for people: "a timed call" */
};

/* Times of one call of a series. */
struct series_call {
    bool counts;  /* the time counts: not the first call, not on a near duplicate, not a CALL_ASK */
    bool outside; /* the candidate works outside its stream, so earlier times are invalid */
    struct clocks clocks;
    double tail_ms; /* from the stop event until the device is idle */
    double rest_ms; /* judge's time for the exchange, minus the reported call and flushing */
};

/* Sets up s->buffers.now for the series: memory, first draw. Returns -1 if memory is short; s->status.code
 * reports other failures. */
int series_open(struct series *series, struct session *s, const struct config *config, int base);
void series_close(struct series *series, struct session *s);

/* Makes the next call. False when the series is over: series->ended, or s->status.code, says why. */
bool series_call(struct series *series, struct session *s, struct series_call *out);

/* Puts an input draw of another series of this configuration into the buffers, and prepares its call. */
bool series_place(struct series *series, struct session *s, const struct content *content,
                  enum placement placement, struct call *call);

/* Judges the kept outputs, into series->ended and totals; false: s->status.code says why. */
bool series_judge(struct series *series, struct session *s, struct totals *totals);

#endif
