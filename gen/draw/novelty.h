/* Novelty: how much of a configuration no earlier one of the set had. The value on every axis is described by
 * features that kernels test: equality with a published value, remainder by a small number, number of bits.
 * These features count alone and in pairs of two axes. Of several candidates, the one with the highest
 * novelty is drawn: a fault hides behind a condition, and a condition met before teaches less. */
#ifndef UNSEEN_NOVELTY_H
#define UNSEEN_NOVELTY_H

#include "gen/contract/space.h"

struct novelty;

/* `space` must outlive the result, and so must `seen` (NULL: no value counts as published). Returns NULL when
 * memory is out. */
struct novelty *novelty_open(const struct space *space, const struct config_list *seen);
void novelty_close(struct novelty *novelty);

/* Returns the novelty of `config`, in no particular unit. */
double novelty_of(const struct novelty *novelty, const struct config *config);

/* Returns the part of the novelty that depends on the value of the number axis `axis`: features of the axis
 * alone and with others. If two configurations differ only in that axis, the difference of their novelties
 * equals the difference of this part. */
double novelty_of_axis(const struct novelty *novelty, const struct config *config, int axis);

/* Marks all features of `config` as known. */
void novelty_mark(struct novelty *novelty, const struct config *config);

#endif
