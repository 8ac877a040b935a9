/* Rows of a covering array, one at a time (draw_cover.c), and what becomes of a tuple that no row has (draw_decide.c). */
#ifndef UNSEEN_COVERING_H
#define UNSEEN_COVERING_H

#include "draw_internal.h"

/* Which tuples come first. */
enum covering_aim {
    COVER_TEETH, /* tails with contents that show a dropped element, then all others */
    COVER_LISTS /* pairs of listed values, then a listed value with a class of an extent; no others are asked about */
};

enum { WEIGHT_OTHER = 1, WEIGHT_TEETH = 4, WEIGHT_LISTED = 16 }; /* WEIGHT_LISTED: a pair of listed values */

struct covering {
    struct drawing *drawing;
    struct tuples *tuples;
    const struct cover *cover;
    struct pcg *stream;
    enum covering_aim aim;
    bool classes;          /* the next row is for no pair of listed values */
    bool square;           /* COVER_LISTS, and some axes have the same list */
    unsigned char *weight; /* by tuple: what it is worth beside others; the heaviest are drawn for first */
    bool *vain;            /* was drawn for, and is open still */
    int rounds;            /* of pairs of listed values, the one at hand included */
};

/* `purpose` names the stream. Tuples of what has been drawn are marked. 0, or -1 without memory. */
int covering_open(struct covering *covering, struct drawing *drawing, struct tuples *tuples,
                  enum covering_aim aim, const char *purpose);
void covering_close(struct covering *covering);

/* One row more, for an open tuple of the heaviest. False: that tuple was not to be had, and is not tried again; or, with
 * *done, none is open. */
bool covering_draw(struct covering *covering, bool *done);

/* Axes with listed values, a bit each. */
unsigned covering_listed(const struct covering *covering);
/* Pairs of listed values that are covered are open once more, for other configurations. */
void covering_again(struct covering *covering);
/* Is a pair of listed values open that was not tried in vain? */
bool covering_has_lists(const struct covering *covering);

/* draw_weights.c: of every tuple; TUPLE_ASIDE where the aim does not ask about it. */
void covering_weigh(struct covering *covering);
bool factor_is_listed(const struct cover *cover, int factor);

/* draw_decide.c: do two classes of one axis exclude each other, the least value and half a tile over? */
bool covering_contradicts(const struct tuples *tuples, int64_t at);

/* The state of a tuple that no draw has. TUPLE_CONTRACT is proved. TUPLE_CAPS: the smallest configurations that the search found
 * cost too much. TUPLE_COVERED: *config has it and fits. TUPLE_OPEN: not decided. config->seed stays. */
enum tuple_state covering_decide(const struct tuples *tuples, int64_t at, struct costing *costing,
                                 struct config *config);

#endif
