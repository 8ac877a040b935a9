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
    double
        between; /* the value nearest to one that passes with which a single element still fails; 0: not known */
};

/* One run: 1 where the mixture fails as the failure did, 0 where it passes or fails in another way, -1 where nothing may be run
 * any more. *passes, where it is not NULL: it passed. */
int which_run(struct which *w, const struct mix *mix, bool *passes);

/* The mixture at hand: of these two contents. False: they have not the same shapes, or nothing that can be mixed. */
bool which_open(struct which *w, const struct config *own, int own_content, const struct config *other,
                int other_content);
/* All of the first content, or all of the other; as which_run. */
int which_run_whole(struct which *w, bool own, bool *passes);

/* Does it fail in one call with content 0, or 1? -1: neither, or it cannot be asked. */
int which_failing_content(struct which *w, const struct config *failure);
/* A content whose values pass there, then at hand: first of the same seed with another choice of an axis that says how values are
 * drawn, then the other content of the same line, that of the seed that is `known` to pass (or NULL), others, and those of the
 * published class. */
bool which_find_passing(struct which *w, const struct config *failure, int content,
                        const struct config *known);

/* One run at a number: as which_run. */
typedef int which_at(struct which *w, void *data, double value, bool *passes);
/* Between a number that passes and one that fails: both are moved until they are within 2% of each other, or the runs of this
 * question are over. True: they have been moved. */
bool which_bisect(struct which *w, which_at *run, void *data, double *passes, double *fails);

/* One thing more that is special, into out->special. */
__attribute__((format(printf, 2, 3))) void which_say(struct which *w, const char *format, ...);

/* What sets these elements apart from what passes, into out->special: by looking at them and, of a single one, by a few
 * runs with its value elsewhere, and with others in its place. */
void which_special(struct which *w, const struct narrow *narrow);

/* From which value on a tensor of these elements fails, whichever elements they are, into out->special: all of the failing content's
 * values beyond a bound become the bound. Where no few elements are enough, such a content becomes out->values. */
void which_clip(struct which *w, const struct narrow *narrow, const struct config *failure, int content);

#endif
