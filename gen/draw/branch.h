/* Random conditions that a kernel may branch on: `k % 64 != 0`, `m > 4096 and n % m != 0`. A kernel with
 * hard-coded shapes contains a condition like these, but we cannot know which. So a set of configurations is
 * measured by the share of many random conditions that it meets. */
#ifndef UNSEEN_BRANCH_H
#define UNSEEN_BRANCH_H

#include "gen/contract/condition.h"
#include "gen/random/pcg.h"

enum branch_kind {
    BRANCH_NOT_MULTIPLE, /* axis % a != 0 */
    BRANCH_RESIDUE,      /* axis % a == b */
    BRANCH_ABOVE,        /* axis > a */
    BRANCH_BELOW,        /* axis < a */
    BRANCH_SEEN,         /* axis == a, a published value */
    BRANCH_OTHER,        /* axis not in {..}: the value is not a published one */
    BRANCH_PRODUCT,      /* product of two or three axes > a */
    BRANCH_UNDIVIDED,    /* axis % another != 0 */
    BRANCH_RATIO,        /* axis > a * another */
    BRANCH_CHOICE,       /* choice=a */
    BRANCH_KINDS
};

enum { BRANCH_TERMS = 2, BRANCH_TEXT = 1024 };

/* A condition of one or two terms, joined by `and` or `or`. */
struct branch {
    enum branch_kind kind[BRANCH_TERMS];
    int terms;
    char text[BRANCH_TEXT]; /* in the language of conditions (gen/contract/condition.h) */
};

/* Draws a condition. `seen` may be empty. Returns false if the space has too few axes that can vary. */
bool branch_draw(struct branch *branch, const struct space *space, const struct config_list *seen,
                 struct pcg *stream);

/* Returns whether the condition holds on one of the configurations in `seen`. */
bool branch_is_seen(const struct condition *condition, const struct config_list *seen);

#endif
