#ifndef UNSEEN_INPUT_DDMIN_INTERNAL_H
#define UNSEEN_INPUT_DDMIN_INTERNAL_H

#include "input_ddmin_boxes.h"
#include "input_ddmin.h"

/* State of the search for the decisive values of one failure. */
struct input_ddmin {
    const struct task *task;
    struct shrinking *shrinking;
    struct mixture mixture; /* the current blend */
    int left;               /* runs that are left */
    struct result_content *out;
    /* If a single element decides: its failing value that is closest to a passing one; 0: unknown. */
    double between;
};

/* Makes one run of a blend. Returns 1: it fails with the failure's outcome; 0: it passes or fails otherwise;
 * -1: no more runs are allowed. *passes (may be NULL) tells whether it passed. */
int input_ddmin_run(struct input_ddmin *w, const struct mix *mix, bool *passes);

/* Sets w->mixture to a blend of these two draws. False: their shapes differ, or they have no elements to
 * blend. */
bool input_ddmin_open(struct input_ddmin *w, const struct config *own, int own_content,
                      const struct config *other, int other_content);
/* Runs all values of the first draw (own), or all of the second. Returns as input_ddmin_run does. */
int input_ddmin_run_whole(struct input_ddmin *w, bool own, bool *passes);

/* Returns which of the configuration's draws, 0 or 1, fails in a single call; -1: neither, or a run is
 * impossible. */
int input_ddmin_failing_content(struct input_ddmin *w, const struct config *failure);
/* Finds an input draw that passes at the failure's point, and sets w->mixture to the blend with it. Tries in
 * this order:
 * - the same seed, with another choice of an axis that affects how values are drawn;
 * - the other draw of the same configuration;
 * - the configuration `known` to pass (NULL: none);
 * - other seeds;
 * - seeds of the published input class. */
bool input_ddmin_find_passing(struct input_ddmin *w, const struct config *failure, int content,
                              const struct config *known);

/* Makes one run with a number. Returns as input_ddmin_run does. */
typedef int input_ddmin_at(struct input_ddmin *w, void *data, double value, bool *passes);
/* Bisects between a passing and a failing number, until they are within 2% of each other or a few runs were
 * made. Returns whether either was moved. */
bool input_ddmin_bisect(struct input_ddmin *w, input_ddmin_at *run, void *data, double *passes,
                        double *fails);

/* Appends one property to out->special. */
__attribute__((format(printf, 2, 3))) void input_ddmin_say(struct input_ddmin *w, const char *format, ...);

/* Finds properties that distinguish these elements from passing values, and appends them to out->special. It
 * reads the values. If one small box is enough, it also runs its values at another place; for a single
 * element it bisects the value. */
void input_ddmin_special(struct input_ddmin *w, const struct narrow *narrow);

/* Finds the bound beyond which a tensor's values fail, whichever elements they are, and appends it to
 * out->special. A run clips all values of the failing draw to a bound. If no few elements suffice, such a
 * draw becomes out->values. */
void input_ddmin_clip(struct input_ddmin *w, const struct narrow *narrow, const struct config *failure,
                      int content);

#endif
