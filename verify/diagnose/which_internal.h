#ifndef UNSEEN_WHICH_INTERNAL_H
#define UNSEEN_WHICH_INTERNAL_H

#include "narrow.h"
#include "which_values.h"

/* What is known while one failure is asked about. */
struct which {
    const struct task *task;
    struct shrinking *shrinking;
    struct mixture mixture; /* at hand */
    int left;               /* runs */
    struct result_content *out;
};

/* One run: 1 where the mixture fails as the failure did, 0 where it passes or fails in another way, -1 where nothing may be run
 * any more. *passes, where it is not NULL: it passed. */
int which_run(struct which *w, const struct mix *mix, bool *passes);

/* What sets these elements apart from what passes, into out->special: by looking at them and, of a single one, by a few
 * runs with its value elsewhere, and with others in its place. */
void which_special(struct which *w, const struct narrow *narrow);

#endif
