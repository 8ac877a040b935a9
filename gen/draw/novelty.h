/* What a configuration has that no earlier one of the set had: its value on every axis looked at in the
 * ways that kernels look at extents (equal to a published one, what it leaves modulo a small number, how many
 * bits it has), alone and two axes at a time. Of several candidates the one with most of it is drawn: a fault
 * waits behind a condition, and a condition that was met before teaches less. */
#ifndef UNSEEN_NOVELTY_H
#define UNSEEN_NOVELTY_H

#include "gen/contract/space.h"

struct novelty;

/* `space` must outlive it, and `seen` (NULL: no value is a published one). Returns NULL without memory. */
struct novelty *novelty_open(const struct space *space, const struct config_list *seen);
void novelty_close(struct novelty *novelty);

/* How much of `config` is new, in no particular unit. */
double novelty_of(const struct novelty *novelty, const struct config *config);

/* The part of it that hangs on the value of `axis`, one of numbers: what is said of the axis alone and with others. Where two
 * configurations differ in that axis only, their novelty differs by as much as this does. */
double novelty_of_axis(const struct novelty *novelty, const struct config *config, int axis);

/* From now on nothing of `config` is new. */
void novelty_mark(struct novelty *novelty, const struct config *config);

#endif
