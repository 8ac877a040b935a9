/* What "the simplest configuration that still fails" is held against: steps on one axis alone, told here once more, apart
 * from the code that shrinks (gen/explain/shrink.c). */
#ifndef UNSEEN_TESTS_PLANT_STEPS_H
#define UNSEEN_TESTS_PLANT_STEPS_H

#include "gen/contract/space.h"

enum { PLANT_STEPS = PROBLEM_MAX_AXES * (SPACE_MAX_VALUES + SPACE_MAX_TILES + 3) };

/* Configurations of the contract that differ from `config` on one axis, where they are simpler: of a list and of a choice any
 * earlier value; of a range the least, half, the multiple of a tile below, one less. None twice. Fills `steps` (room for
 * PLANT_STEPS) and returns how many. */
int plant_steps(const struct space *space, const struct config *config, struct config *steps);

#endif
