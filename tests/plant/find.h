/* How soon planted faults are found: by our drawing and by others', from the truth alone. */
#ifndef UNSEEN_TESTS_FIND_H
#define UNSEEN_TESTS_FIND_H

#include "plant_run.h"

enum find_way { FIND_STANDARD, FIND_QUICK, FIND_UNIFORM, FIND_LOG_UNIFORM, FIND_QUOTA, FIND_WAYS };

/* The configurations that one way draws for a seed, in the order in which they are run; as many as the
 * unseen set of that effort has. Returns 0, or -1 after a message. */
int find_draw(struct config_list *out, enum find_way way, const struct plant_field *field, uint64_t seed);

enum { FIND_MOST_SEEDS = 9 };

struct find_fault {
    struct plant plant;
    const struct plant_field *field;
    int first[FIND_WAYS][FIND_MOST_SEEDS]; /* which configuration shows it first, from 1; 0: none does */
};

struct find {
    struct plant_field *field;
    int fields;
    struct find_fault *fault;
    int faults, seeds;
    uint64_t seed;
};

/* Draw the faults, and measure them all ways. 0, or -1 after a message. */
int find_plant(struct find *find, int faults);
int find_measure(struct find *find);

/* The table of part 1, and every miss with its reason. */
void find_report(const struct find *find);

#endif
