/* Checks "the simplest configuration that still fails" by steps on one axis alone. They are written here a
 * second time, apart from the code that shrinks (gen/shrink/shrink.c). */
#ifndef UNSEEN_TESTS_PLANT_STEPS_H
#define UNSEEN_TESTS_PLANT_STEPS_H

#include "gen/contract/space.h"

enum { PLANT_STEPS = PROBLEM_MAX_AXES * (SPACE_MAX_VALUES + SPACE_MAX_TILES + 3) };

/* Configurations of the contract that differ from `config` on one axis, where they are simpler. For a list or
 * a choice it is any earlier value. For a range it is the least, half, the next lower multiple of a tile, and
 * one less. None occurs twice. Fills `steps` (room for PLANT_STEPS) and returns their number. */
int plant_steps(const struct space *space, const struct config *config, struct config *steps);

#endif
