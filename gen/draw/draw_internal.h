/* Shared by the parts of a draw: what has been drawn, what may still be spent, and how one
 * configuration is moved about inside its contract. */
#ifndef UNSEEN_DRAW_INTERNAL_H
#define UNSEEN_DRAW_INTERNAL_H

#include "cost.h"
#include "cover.h"
#include "draw.h"
#include "gen/random/pcg.h"
#include "move.h"
#include "novelty.h"
#include "points.h"

/* The work of a whole unseen set: what every hundred of its draws may cost together, and the whole set at
 * least, in units of one configuration's caps. Without it a seen set near the caps would fill the unseen
 * set with neighbours of the dearest kind. */
enum { DRAW_SET_FLOPS_CAPS = 12, DRAW_SET_BYTES_CAPS = 6, DRAW_SET_LEAST_CAPS = 3 };

/* Sets of fewer draws go without the largest tensors: they take seconds each. */
enum { DRAW_BIG_FROM = 100 };

/* How much of the set's work is spent by the end of a part, and how much of what is free a single draw may
 * take: no part leaves the next ones with small sizes only, and no draw the rest of its part. */
struct budget {
    double part, grain;
};

struct drawing {
    const struct space *space;
    const struct config_list *seen;
    const struct draw_mix *mix;
    struct drawn_list *out;
    int count; /* draws wanted in all */
    uint64_t seed;
    struct costing costing;
    struct cost total, spent; /* of the set */
    struct budget budget;     /* of the part at work */
    struct point_set used;    /* seen and drawn */
    struct novelty *novelty;  /* against what this part has drawn; NULL: the part does not ask */
    struct config_list few;   /* every point that can be drawn, when they are few (else empty) */
    unsigned held;            /* axes that no shrinking and no repair moves, a bit each */
    bool square;              /* half of the random points give axes with the same list the same value */
    int tries;                /* how long to look for one more random point */
    int neighbours, dear;     /* neighbours tried, and those of them above the caps */
    int frozen_dropped;
    int64_t largest[PROBLEM_MAX_AXES]; /* draw_axis_largest, once known */
    bool largest_known[PROBLEM_MAX_AXES];
    enum big { BIG_UNKNOWN, BIG_ELEMENTS, BIG_BYTES, BIG_EXCLUDED, BIG_NEVER } big[PROBLEM_MAX_TENSORS];
    struct coverage coverage;
    bool no_memory;
};

/* --- draw_state.c --- */
struct pcg *draw_stream(struct drawing *drawing, const char *purpose);

/* What one more configuration may cost: of what the part at work (struct budget) may still spend, while every
 * draw still to come keeps a share. */
struct cost draw_allowance(const struct drawing *drawing);

/* Adds a configuration of that cost to the set. */
void draw_accept(struct drawing *drawing, const struct config *config, const struct cost *cost,
                 const char *why);

/* Shrinks the largest axis, over and over, until the configuration may be afforded. Of `spared` (a bit an axis)
 * none before all others, or never when it is `fixed`, so that long single axes appear; constraints never move
 * `kept` (-1: none is). What cannot shrink any more is taken as it is when the caps of one configuration allow
 * it. (draw_random.c) */
bool draw_shrink_to_fit(struct drawing *drawing, struct config *config, int kept, unsigned spared, bool fixed,
                        struct pcg *stream, struct cost *cost);

/* In the contract, and no point that was seen or drawn before. */
bool draw_is_new(const struct drawing *drawing, const struct config *config);

/* For every tensor that can be so large within the caps a configuration in which offsets overflow: beyond 2^31
 * elements and 2^32 bytes, or else beyond 2^31 bytes. */
void draw_big(struct drawing *drawing, struct pcg *stream);

/* --- the parts of the set: each adds its own, 0 or -1 without memory --- */
int draw_neighbours(struct drawing *drawing, int most);
int draw_corners(struct drawing *drawing, int most);
int draw_cover(struct drawing *drawing, struct tuples *tuples, int rows);
int draw_random(struct drawing *drawing);

/* One random point that is new, the newest of a few. False: none was found. (draw_random.c) */
bool draw_new_random(struct drawing *drawing, struct pcg *stream);

/* Likely failures first: orders what was drawn from `from` on. 0, or -1 without memory. */
int draw_order(struct drawing *drawing, int from);

/* The largest value of a number axis that the caps allow with every other axis at its least (constraints
 * that couple axes may move one). -1: not even the least. */
int64_t draw_axis_largest(struct drawing *drawing, int axis);
void draw_note(struct drawing *drawing, struct draw_notes *notes);

/* --- draw_classes.c --- */
/* Input classes that no draw of the set, which begins at `from`, has: draws from `first` on change theirs. */
void draw_missing_classes(struct drawing *drawing, int from, int first);

#endif
