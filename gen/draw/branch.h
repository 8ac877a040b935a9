/* Conditions that a kernel may branch on, at random: `k % 64 != 0`, `m > 4096 and n % m != 0`. Whoever hard-codes
 * shapes writes one of these; which one, nobody knows. A set of configurations can be held against many. */
#ifndef UNSEEN_BRANCH_H
#define UNSEEN_BRANCH_H

#include "gen/random/pcg.h"
#include "gen/contract/space.h"

enum branch_kind {
    BRANCH_NOT_MULTIPLE, /* axis % a != 0 */
    BRANCH_RESIDUE,      /* axis % a == b */
    BRANCH_ABOVE,        /* axis > a */
    BRANCH_BELOW,        /* axis < a */
    BRANCH_SEEN,         /* axis == a, a published value */
    BRANCH_OTHER,        /* no published value */
    BRANCH_PRODUCT,      /* of two or three axes > a */
    BRANCH_UNDIVIDED,    /* axis % another != 0 */
    BRANCH_RATIO,        /* axis > a * another */
    BRANCH_CHOICE,       /* choice == a */
    BRANCH_KINDS
};

struct branch_term {
    enum branch_kind kind;
    int axes, axis[3];
    int64_t a, b;
};

struct branch {
    struct branch_term term[2];
    int terms;   /* 1 or 2 */
    bool either; /* one of the two is enough */
};

/* `seen` may be empty. False when the space has too few axes that can vary. */
bool branch_draw(struct branch *branch, const struct space *space, const struct config_list *seen,
                 struct pcg *stream);
bool branch_taken(const struct branch *branch, const struct config_list *seen, const struct config *config);
bool branch_is_seen(const struct branch *branch, const struct config_list *seen); /* taken by one of them */

#endif
