/* Draws the seen and unseen sets, and gives a reason for every configuration. */
#ifndef UNSEEN_DRAW_H
#define UNSEEN_DRAW_H

#include "clue.h"
#include "cover.h"
#include "gen/contract/space.h"

enum effort { EFFORT_QUICK, EFFORT_STANDARD, EFFORT_DEEP, EFFORT_REWARD };

/* Limits of the machine for one configuration; 0 (or INFINITY): no cap. A draw above a cap is replaced and
 * never run; reports name the caps and what they exclude. The work and memory of a whole set are limited, too
 * (DRAW_SET_FLOPS_CAPS): once much of that is spent, cheaper draws are preferred. */
struct draw_caps {
    double bytes; /* of all tensors with one input draw */
    double flops; /* dense-equivalent work */
};

struct drawn {
    struct config config;
    /* reason: "published", "like seen configuration 2 but k+1, input=needle", "random", "scout" */
    char why[96];
    struct config_note note; /* of its line in a set's file */
    bool scout;              /* a small configuration (doc/glossary.md), which is never timed */
    bool directed;           /* drawn for a condition in the candidate's code; likewise never timed */
};

struct drawn_list {
    struct drawn *item;
    int count, capacity;
};
void drawn_list_clear(struct drawn_list *list);
/* Appends a copy. Returns 0, or -1 when out of memory, and then the list is as before. */
int drawn_list_add(struct drawn_list *list, const struct drawn *drawn);
int drawn_scouts(const struct drawn_list *list);   /* the number of scouts */
int drawn_directed(const struct drawn_list *list); /* the number of directed ones */

/* Coverage of choices and list values: pairs of two of them, and pairs of one with a tile class of an
 * extent. */
struct lists_coverage {
    struct coverage pairs, classes;
    bool scouts;
};

/* Describes the caps and their effect for people. It has one line for every axis that is cut, or "no axis is
 * cut". The numbers of omitted neighbours and frozen failures follow. The last line has no newline. */
struct draw_notes {
    char text[2048];
    struct coverage coverage;
    struct lists_coverage lists; /* set by draw_note_lists */
};
/* Appends the result of draw_lists_covered. */
void draw_note_lists(const struct lists_coverage *lists, struct draw_notes *notes);

/* Composition of an unseen set. Each part has at most its percentage of the draws; random points fill the
 * rest. Other steps can be left out to measure what they contribute (tests/plant/find_ablate.c). */
enum draw_part { DRAW_NEIGHBOURS, DRAW_CORNERS, DRAW_COVER, DRAW_RANDOM, DRAW_PARTS };
struct draw_mix {
    int percent[DRAW_RANDOM];
    bool no_teeth;   /* give no priority to pairs of a tail with an input class that reveals it */
    bool no_classes; /* do not add input classes that no draw has */
    bool no_novelty; /* take the first random draw that fits instead of the newest of several */
    bool no_order;   /* interleave the parts without moving likely failures to the front */
};
extern const struct draw_mix draw_usual;

/* Draws the unseen set: `count` configurations of the space. None is a point of the seen set (equal axes,
 * whatever the seed). If the space is large enough, no two are the same point. The set has:
 * - first all frozen failures with their own seeds, even more than `count`. Those above the caps, outside
 *   the space or in the seen set are left out, and the notes say how many;
 * - neighbours of every seen configuration, up to 25% of `count`: each number axis +-1 (for a list: the
 *   next and the previous value), each choice changed alone, each number axis +- its tiles. If a
 *   constraint forbids one, one other axis moves to its nearest value that satisfies all constraints;
 * - corners, up to 30%: every axis at its least; two axes at once as large as fits; each number axis at
 *   its greatest within the caps (once more with the most sensitive input class) and at its least; seen
 *   values among others. From 100 draws on, also every tensor beyond 2^31 elements that is possible;
 * - rows of a covering array of the classes in cover.h, up to 25%, for pairs that the parts before have
 *   not covered;
 * - the rest random and log-uniform, with a preference for primes and values off the tiles. If the space
 *   has few points: all of them, then the same points with other seeds.
 * Of several random candidates, the one with the highest novelty (novelty.h) is taken. Every part may
 * spend its share of the set's work, so that each part has large configurations.
 * Likely failures come first (draw_order.c); apart from that, the parts are interleaved.
 * Each configuration gets a 31-bit seed from the stream of its part. `frozen`, `caps` and `notes` may be
 * NULL.
 * *out is overwritten. Returns 0. Returns -1 with *error, and *out empty, if nothing can be drawn or
 * memory is out. */
int draw_unseen(struct drawn_list *out, const struct space *space, const struct config_list *seen,
                const struct config_list *frozen, int count, uint64_t seed, const struct draw_caps *caps,
                struct draw_notes *notes, struct space_error *error);
/* The same with another composition. */
int draw_unseen_as(const struct draw_mix *mix, struct drawn_list *out, const struct space *space,
                   const struct config_list *seen, const struct config_list *frozen, int count, uint64_t seed,
                   const struct draw_caps *caps, struct draw_notes *notes, struct space_error *error);

/* Adds `count` scouts to `list`: configurations whose tensors and work are within draw_scout_caps. They are
 * drawn like the random ones of the set, from a separate stream, and are no points of the seen set or of
 * `list`. There are fewer if the contract has no more that are so small. `caps` may be NULL. Returns 0; -1
 * when memory is out. */
enum { DRAW_SCOUTS = 190, DRAW_SCOUT_BYTES = 1 << 16, DRAW_SCOUT_FLOPS = 200000 };
int draw_scouts(struct drawn_list *list, const struct space *space, const struct config_list *seen, int count,
                uint64_t seed, const struct draw_caps *caps);

/* Returns the limits of one scout. `caps` may be NULL. */
struct draw_caps draw_scout_caps(const struct draw_caps *caps);

/* Adds at most `count` directed configurations to `list`: each meets a condition or a boundary of the
 * candidate's code that the configurations before meet too rarely. Most are as small as scouts. They are no
 * points of the seen set or of `list`, and follow from the seed and the clues. `caps` may be NULL. Returns 0;
 * -1 when memory is out. */
int draw_directed(struct drawn_list *list, const struct clue_list *clues, const struct space *space,
                  const struct config_list *seen, int count, uint64_t seed, const struct draw_caps *caps);

/* Counts the pairs that a whole unseen set covers. A pair is two choices or list values, or one of them with
 * a tile class of an extent. For a set with scouts, the classes and the limits are those of a scout.
 * `contract` counts only proved exclusions. A pair that is possible but not covered was either not drawn or
 * not decided. Returns 0; -1 when memory is out. */
int draw_lists_covered(const struct drawn_list *list, const struct space *space,
                       const struct config_list *seen, const struct draw_caps *caps,
                       struct lists_coverage *out);

/* Copies the seen set and gives it seeds for this run; a line with a seed other than 0 keeps it. No line is
 * dropped, even above a cap: the run then reports it as skipped. *out is overwritten. Returns 0; -1 when
 * memory is out. */
int draw_seen(struct drawn_list *out, const struct config_list *seen, uint64_t seed);
/* The same for an unseen set that the user gives (--unseen-set) instead of a drawn one. */
int draw_given(struct drawn_list *out, const struct config_list *given, uint64_t seed);

/* Strength of the covering array in a set of `count` draws: 2, or 3 from `deep` on. */
int draw_strength(int count);

/* Default number of unseen configurations: quick 35, standard 300, deep 1500, reward 2. */
int effort_count(enum effort effort);
int effort_scouts(enum effort effort); /* default number of scouts: 190, 750, 1875 */
/* fewer scouts with EFFORT_REWARD, for expensive candidates: imported tasks and those in Python */
int effort_scouts_few(void);

int effort_directed(enum effort effort); /* default most directed ones: 128, 400, 1000, 64 */
int effort_directed_few(void);           /* fewer, for candidates in Python */

/* Computes the commitment: SHA-256, in hex, of configuration lines, each ended by a newline. It covers either
 * the directed configurations of the list or all others. Returns 0; -1 if a line is too long. */
int drawn_commitment(const struct drawn_list *list, bool directed, char hex[65]);

#endif
