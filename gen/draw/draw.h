/* Drawing the seen and unseen sets: every configuration with the reason why it was drawn. */
#ifndef UNSEEN_DRAW_H
#define UNSEEN_DRAW_H

#include "cover.h"
#include "gen/contract/space.h"

enum effort { EFFORT_QUICK, EFFORT_STANDARD, EFFORT_DEEP, EFFORT_REWARD };

/* What the machine allows one configuration; 0 (or INFINITY): no cap. A draw above a cap is replaced,
 * never run; the caps and what they exclude are reported. The whole set is held to 30 times `bytes` and
 * 20 times `flops`: once much is spent, cheaper draws are preferred. */
struct draw_caps {
    double bytes; /* of all tensors of one content */
    double flops; /* dense-equivalent work */
};

struct drawn {
    struct config config;
    char why[96]; /* "published", "like seen configuration 2 but k+1, input=needle", "random", "scout" */
    bool scout;   /* small, and never timed */
};

struct drawn_list {
    struct drawn *item;
    int count, capacity;
};
void drawn_list_clear(struct drawn_list *list);
int drawn_scouts(const struct drawn_list *list); /* how many are scouts */

/* Of choices and list values: pairs of two of them, and of one with a tile class of an extent. */
struct lists_coverage {
    struct coverage pairs, classes;
    bool scouts;
};

/* What the caps are and what they cut off, for people: one line for every axis that is cut, or "no axis
 * is cut"; how many neighbours and frozen failures were left out. Lines without a last newline. */
struct draw_notes {
    char text[2048];
    struct coverage coverage;
    struct lists_coverage lists; /* after draw_note_lists */
};
/* Adds what draw_lists_covered has found. */
void draw_note_lists(const struct lists_coverage *lists, struct draw_notes *notes);

/* How a set is made up: of its draws so many per cent are of each part, as far as there are that many; random ones are the
 * rest. What else makes a set can be left out, to see what it is worth (tests/plant/find_ablate.c). */
enum draw_part { DRAW_NEIGHBOURS, DRAW_CORNERS, DRAW_COVER, DRAW_RANDOM, DRAW_PARTS };
struct draw_mix {
    int percent[DRAW_RANDOM];
    bool no_teeth;   /* pairs of a tail and contents that show it are pairs like others */
    bool no_classes; /* input classes that no draw has stay so */
    bool no_novelty; /* a random draw is the first that fits, not the newest of some */
    bool no_order;   /* parts take turns */
};
extern const struct draw_mix draw_usual;

/* The unseen set: `count` configurations inside the space, none of them a point of the seen set (same
 * axes but for the seed), no two the same point where the space is large enough:
 * - first the frozen failures with their own seeds, all of them, even above `count` (those above the caps, outside
 *   the space or seen are left out, and the notes say how many);
 * - neighbours of every seen configuration, up to 25% of `count`: each number axis +-1 (of a list: the
 *   next and the previous value), each choice changed alone, each number axis +- its tiles. Where a constraint
 *   forbids one, one other axis moves to its nearest value that satisfies all constraints;
 * - corners, up to 30%: every axis at its least, two axes at once as great as fits, each number axis at its
 *   greatest within the caps (once more with the sharpest input class) and at its least, seen values among others;
 *   from 100 draws on every tensor beyond
 *   2^31 elements that can be;
 * - a covering array of the classes in cover.h, up to 25%, for what those before have left open;
 * - the rest log-uniform random, primes and off-tile values favoured. Of a space of few points: all of
 *   them, then the same points with other seeds.
 * Of several random candidates the one is taken that has most of what none before it had (novelty.h). Every part
 * may spend its share of the set's work, so that each has large configurations.
 * Their order: likely failures first (draw_order.c), where that makes no difference the parts take turns.
 * Each gets its own 31-bit seed from the stream of its part. `frozen`, `caps`, `notes` may be NULL.
 * *out is overwritten. Returns 0; -1 with *error, and *out empty, when nothing can be drawn or memory is
 * out. */
int draw_unseen(struct drawn_list *out, const struct space *space, const struct config_list *seen,
                const struct config_list *frozen, int count, uint64_t seed, const struct draw_caps *caps,
                struct draw_notes *notes, struct space_error *error);
/* The same of another mix. */
int draw_unseen_as(const struct draw_mix *mix, struct drawn_list *out, const struct space *space,
                   const struct config_list *seen, const struct config_list *frozen, int count, uint64_t seed,
                   const struct draw_caps *caps, struct draw_notes *notes, struct space_error *error);

/* Scouts: `count` configurations more, each of at most so many bytes of tensors and so much work, drawn like the random ones of
 * the set with a stream of their own, no point of the seen set and none of `list`, to which they are added. Fewer where the
 * contract has no more that are so small. `caps` may be NULL. Returns 0; -1 when memory is out. */
enum { DRAW_SCOUTS = 190, DRAW_SCOUT_BYTES = 1 << 16, DRAW_SCOUT_FLOPS = 200000 };
int draw_scouts(struct drawn_list *list, const struct space *space, const struct config_list *seen, int count,
                uint64_t seed, const struct draw_caps *caps);

/* What one scout may take. `caps` may be NULL. */
struct draw_caps draw_scout_caps(const struct draw_caps *caps);

/* What a whole unseen set covers of choices and list values: pairs of two of them, and of one with a tile class of an extent. Of a set
 * with scouts the classes, and what is too large (`caps`), are those of a scout. `contract` is proved; what is possible and not
 * covered was either not drawn or not decided. Returns 0; -1 when memory is out. */
int draw_lists_covered(const struct drawn_list *list, const struct space *space,
                       const struct config_list *seen, const struct draw_caps *caps,
                       struct lists_coverage *out);

/* The seen set with seeds for this run; a line with a seed of its own (not 0) keeps it. Never dropped,
 * even above a cap (the run reports it as skipped). *out is overwritten. Returns 0, -1 no memory. */
int draw_seen(struct drawn_list *out, const struct config_list *seen, uint64_t seed);
/* The same of an unseen set that somebody gives instead of having it drawn. */
int draw_given(struct drawn_list *out, const struct config_list *given, uint64_t seed);

/* Strength of the covering array in a set of `count`: pairs, and triples from `deep` on. */
int draw_strength(int count);

/* Default number of unseen configurations: quick 35, standard 300, deep 1500. */
int effort_count(enum effort effort);
int effort_scouts(enum effort effort); /* beside them: 190, 750, 1875 */
int effort_scouts_few(
    void); /* with EFFORT_REWARD of what pays for each: imported tasks, candidates in Python */

/* SHA-256, in hex, of the set's configuration lines each ended by a newline: the commitment.
 * Returns 0; -1 when a line is too long to be one. */
int drawn_commitment(const struct drawn_list *list, char hex[65]);

#endif
