/* Draws rows of a covering array one at a time (draw_cover.c), and decides about tuples that no row has
 * (draw_decide.c). */
#ifndef UNSEEN_COVERING_H
#define UNSEEN_COVERING_H

#include "draw_internal.h"

/* The tuples that rows are drawn for first. */
enum covering_aim {
    COVER_TEETH, /* tails with input classes that reveal a dropped element, then all others */
    /* pairs of listed values, then listed values with classes of extents; other tuples are set aside */
    COVER_LISTS
};

enum { WEIGHT_OTHER = 1, WEIGHT_TEETH = 4, WEIGHT_LISTED = 16 }; /* WEIGHT_LISTED: pairs of listed values */

struct covering {
    struct drawing *drawing;
    struct tuples *tuples;
    const struct cover *cover;
    struct pcg *stream;
    enum covering_aim aim;
    bool classes;          /* the next row is not for a pair of listed values */
    bool square;           /* the aim is COVER_LISTS, and some axes have the same list */
    unsigned char *weight; /* weight of each tuple; rows are drawn for the heaviest first */
    bool *vain;            /* a row was drawn for the tuple in vain */
    int rounds;            /* rounds of pairs of listed values, including the current one */
};

/* Starts a covering array; `purpose` names its random stream. Tuples of earlier draws are marked. Returns 0,
 * or -1 when memory is out. */
int covering_open(struct covering *covering, struct drawing *drawing, struct tuples *tuples,
                  enum covering_aim aim, const char *purpose);
void covering_close(struct covering *covering);

/* Draws one more row, for one of the heaviest open tuples. Returns false if no configuration was found,
 * and then does not try that tuple again. *done: no tuple is open. */
bool covering_draw(struct covering *covering, bool *done);

/* Returns the axes with listed values, one bit each. */
unsigned covering_listed(const struct covering *covering);
/* Opens the covered pairs of listed values again, so that other configurations have them, too. */
void covering_again(struct covering *covering);
/* Returns whether a pair of listed values is open that was not tried in vain. */
bool covering_has_lists(const struct covering *covering);

/* draw_weights.c. Sets the weight of every tuple, and TUPLE_ASIDE if the aim excludes it. */
void covering_weigh(struct covering *covering);
bool factor_is_listed(const struct cover *cover, int factor);

/* draw_decide.c. Returns whether two classes of one axis exclude each other, such as the least value and half
 * a tile over. */
bool covering_contradicts(const struct tuples *tuples, int64_t at);

/* Returns the state of a tuple that no draw has. TUPLE_CONTRACT: proved to be impossible. TUPLE_CAPS: the
 * smallest configurations found cost too much. TUPLE_COVERED: *config has the tuple and fits. TUPLE_OPEN: not
 * decided. config->seed is kept. */
enum tuple_state covering_decide(const struct tuples *tuples, int64_t at, struct costing *costing,
                                 struct config *config);

#endif
