/* Shared by the parts of a draw: configurations drawn so far, the remaining budget, and moves of a
 * configuration inside its contract. */
#ifndef UNSEEN_DRAW_INTERNAL_H
#define UNSEEN_DRAW_INTERNAL_H

#include "cost.h"
#include "cover.h"
#include "draw.h"
#include "gen/random/pcg.h"
#include "move.h"
#include "novelty.h"
#include "points.h"

/* The budget of a whole unseen set, in units of one configuration's caps: for every hundred draws, and the
 * least for any set. Without it, a seen set near the caps would fill the unseen set with its most expensive
 * neighbours. */
enum { DRAW_SET_FLOPS_CAPS = 12, DRAW_SET_BYTES_CAPS = 6, DRAW_SET_LEAST_CAPS = 3 };

/* Smaller sets have none of the largest tensors, which take seconds each. */
enum { DRAW_BIG_FROM = 100 };

/* `part`: share of the set's budget that may be spent by the end of a part. `grain`: share of the free budget
 * that one draw may take. So no part leaves only small sizes for the next ones, and no draw takes the rest of
 * its part. */
struct budget {
    double part, grain;
};

struct drawing {
    const struct space *space;
    const struct config_list *seen;
    const struct draw_mix *mix;
    struct drawn_list *out;
    int count; /* number of draws wanted */
    uint64_t seed;
    struct costing costing;
    struct cost total, spent; /* budget of the set, and what was spent of it */
    struct budget budget;     /* limits of the current part */
    struct point_set used;    /* seen points and drawn ones */
    struct novelty *novelty;  /* compared with the draws of this part; NULL: not used by the part */
    struct config_list few;   /* every point that can be drawn, if there are few; otherwise empty */
    unsigned held;            /* axes that neither shrinking nor repair moves, one bit each */
    bool square;              /* half of the random points give axes with the same list the same value */
    int tries;                /* attempts to find one more random point */
    int neighbours, dear;     /* neighbours tried, and those among them that exceed the caps */
    int frozen_dropped;
    int64_t largest[PROBLEM_MAX_AXES]; /* results of draw_axis_largest */
    bool largest_known[PROBLEM_MAX_AXES];
    enum big { BIG_UNKNOWN, BIG_ELEMENTS, BIG_BYTES, BIG_EXCLUDED, BIG_NEVER } big[PROBLEM_MAX_TENSORS];
    struct coverage coverage;
    bool no_memory;
};

/* --- draw_state.c --- */
struct pcg *draw_stream(struct drawing *drawing, const char *purpose);

/* Returns how much one more configuration may cost. This is a share of the budget that the current part may
 * still spend; every draw still to come keeps a share. */
struct cost draw_allowance(const struct drawing *drawing);

/* Adds a configuration of that cost to the set. */
void draw_accept(struct drawing *drawing, const struct config *config, const struct cost *cost,
                 const char *why);

/* Shrinks the largest axis repeatedly until the cost is allowed (draw_random.c). Axes in `spared` (one bit
 * each) shrink only after all others, or never if `fixed` is set, so that there are long single axes. Repairs
 * never move `kept` (-1: none). If no axis can shrink further, the configuration is taken if the caps of one
 * configuration allow it. */
bool draw_shrink_to_fit(struct drawing *drawing, struct config *config, int kept, unsigned spared, bool fixed,
                        struct pcg *stream, struct cost *cost);

/* Returns whether the configuration is in the contract and its point was neither seen nor drawn. */
bool draw_is_new(const struct drawing *drawing, const struct config *config);

/* Draws configurations in which offsets overflow: one for every tensor that can exceed 2^31 elements and 2^32
 * bytes within the caps, or else 2^31 bytes. */
void draw_big(struct drawing *drawing, struct pcg *stream);

/* --- the parts of the set: each adds its draws and returns 0, or -1 when memory is out --- */
int draw_neighbours(struct drawing *drawing, int most);
int draw_corners(struct drawing *drawing, int most);
int draw_cover(struct drawing *drawing, struct tuples *tuples, int rows);
int draw_random(struct drawing *drawing);

/* Draws one new random point, the one of a few with the highest novelty (draw_random.c). Returns false if
 * none was found. */
bool draw_new_random(struct drawing *drawing, struct pcg *stream);

/* Orders the draws from `from` on, likely failures first. Returns 0, or -1 when memory is out. */
int draw_order(struct drawing *drawing, int from);

/* Returns the largest value of a number axis that the caps allow. All other axes are at their least, except
 * one that a constraint may move. Returns -1 if not even the least is allowed. */
int64_t draw_axis_largest(struct drawing *drawing, int axis);
void draw_note(struct drawing *drawing, struct draw_notes *notes);

/* --- draw_classes.c --- */
/* Gives the set, which begins at `from`, the input classes that it lacks. Draws from `first` on change
 * theirs. */
void draw_missing_classes(struct drawing *drawing, int from, int first);

#endif
