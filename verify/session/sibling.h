/* Siblings of a configuration: configurations that a kernel may confuse with it, since a cache key is equal
 * for both. */
#ifndef UNSEEN_SIBLING_H
#define UNSEEN_SIBLING_H

#include "session.h"

enum sibling_kind {
    /* the same shapes, another argument (eps); or two axes that compensate for each other */
    SIBLING_ARGUMENT,
    SIBLING_CONTENT, /* the same shapes and arguments, another choice (lengths, page tables) */
    SIBLING_STRIDE,  /* the same shapes, other strides */
    SIBLING_SWAP,    /* two extents exchanged */
    SIBLING_PRODUCT, /* another pair of extents with the same product, and so the same volume and bytes */
    SIBLING_SUM,     /* another pair of extents with the same sum */
    SIBLING_AXIS,    /* one axis differs */
    SIBLING_KINDS
};

/* Requested kind and axes; -1: any. */
struct sibling_wish {
    int kind, axis[2];
};
extern const struct sibling_wish sibling_any;

/* Chooses a sibling within the contract that costs little more than the configuration. The result depends
 * only on the seed and `salt`. Without a wish, all available kinds are chosen at random. `kin`: for an
 * imported task, only siblings that the same model serves. False: there is none, or out of memory. */
bool sibling_choose(const struct session_options *options, const struct config *config,
                    const struct sibling_wish *wish, bool kin, unsigned salt, struct config *sibling);

/* Does a model constructed for one serve the other, too? */
bool sibling_is_kin(const struct problem *problem, const struct config *a, const struct config *b);

/* The kind of sibling that two configurations are, by their axes; false: they differ in more than a pair of
 * axes. */
bool sibling_kind_of(const struct problem *problem, const struct config *a, const struct config *b,
                     struct sibling_wish *wish);

/* May a cache with a simple key confuse the two? Their extents must agree except for one, or those that
 * differ must have the same product or sum. Choices may differ. */
bool sibling_may_collide(const struct problem *problem, const struct config *a, const struct config *b);

/* Describes what two configurations share: "equal rows*cols", "rows and cols swapped", "equal except for
 * eps". Empty: nothing simple. */
enum { SIBLING_TEXT = 128 };
void sibling_relation(const struct problem *problem, const struct config *a, const struct config *b,
                      char text[SIBLING_TEXT]);

/* Lists where `config` differs from `other`: "rows=6 cols=10". */
void sibling_axes(const struct problem *problem, const struct config *config, const struct config *other,
                  char *text, size_t size);

#endif
