/* Siblings of a configuration: others that a kernel may confuse with it, since a key that it keeps something under is equal for both. */
#ifndef UNSEEN_SIBLING_H
#define UNSEEN_SIBLING_H

#include "session.h"

enum sibling_kind {
    SIBLING_ARGUMENT, /* tensors of the same shapes, another argument (eps); or two axes that make up for each other */
    SIBLING_CONTENT, /* the same shapes and arguments, another choice (lengths, page tables) */
    SIBLING_STRIDE,  /* the same shapes, other strides */
    SIBLING_SWAP,    /* two extents swapped */
    SIBLING_PRODUCT, /* another pair of extents of the same product, and so of the same volume and bytes */
    SIBLING_SUM,     /* the same of their sum */
    SIBLING_AXIS,    /* one axis differs */
    SIBLING_KINDS
};

/* Of which kind, and of which axes; -1: any. */
struct sibling_wish {
    int kind, axis[2];
};
extern const struct sibling_wish sibling_any;

/* Chooses a sibling of the contract that costs little more than the configuration; the same one for the same seed and `salt`. Without
 * a wish all kinds that there are take turns by chance. `kin`: of an imported task, only what one model serves. False: there is none, or
 * memory is out. */
bool sibling_choose(const struct session_options *options, const struct config *config,
                    const struct sibling_wish *wish, bool kin, unsigned salt, struct config *sibling);

/* Is a model that is constructed for one constructed for the other, too? */
bool sibling_is_kin(const struct problem *problem, const struct config *a, const struct config *b);

/* Which kind of siblings two configurations are, as far as axes tell; false: they differ in more than a pair of axes. */
bool sibling_kind_of(const struct problem *problem, const struct config *a, const struct config *b,
                     struct sibling_wish *wish);

/* Could something that is kept under a plain key be mixed up between the two: do their extents agree, but for one of them, or have those
 * that differ the same product or sum? Choices may differ. */
bool sibling_may_collide(const struct problem *problem, const struct config *a, const struct config *b);

/* What two configurations share, in words: "equal rows*cols", "rows and cols swapped", "equal but for eps". Empty: nothing that is
 * plain. */
enum { SIBLING_TEXT = 128 };
void sibling_relation(const struct problem *problem, const struct config *a, const struct config *b,
                      char text[SIBLING_TEXT]);

/* Where `config` differs from `other`, in words: "rows=6 cols=10". */
void sibling_axes(const struct problem *problem, const struct config *config, const struct config *other,
                  char *text, size_t size);

#endif
