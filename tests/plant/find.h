/* How soon real bugs (tests/bugs/) and planted faults are met: by our drawing and by others', from the truth alone. */
#ifndef UNSEEN_TESTS_FIND_H
#define UNSEEN_TESTS_FIND_H

#include "plant_run.h"
#include "tests/bugs/list.h"

enum find_way { FIND_STANDARD, FIND_QUICK, FIND_UNIFORM, FIND_LOG_UNIFORM, FIND_QUOTA, FIND_WAYS };

/* The configurations that one way draws for a seed, in the order in which they are run; as many as the
 * unseen set of that effort has. Returns 0, or -1 after a message. */
int find_draw(struct config_list *out, enum find_way way, const struct plant_field *field, uint64_t seed);

enum { FIND_MOST_SEEDS = 9 };

/* A real bug, or a planted fault. */
struct find_fault {
    const struct bug *bug; /* NULL: planted */
    struct condition *when;
    struct plant plant;
    const struct plant_field *field;
    int first[FIND_WAYS][FIND_MOST_SEEDS]; /* which configuration shows it first, from 1; 0: none does */
};

struct find {
    struct plant_field *field;
    int fields;
    struct bug *bug;
    struct find_fault *fault; /* the real ones first */
    int faults, real, seeds;
    uint64_t seed;
};

/* Read the real bugs, those set aside or the others; draw as many faults; measure them all ways. 0, or -1 after a message. */
int find_plant(struct find *find, int faults, bool held_out);
int find_measure(struct find *find);
void find_clear(struct find *find);

bool find_is_reachable(const struct find_fault *fault);
bool find_is_met(const struct find_fault *fault, const struct config *config); /* it is sure to show */
bool find_is_on_seen(const struct find_fault *fault);
/* Where in the set the first one is that meets it, from 1; 0: nowhere. */
int find_first(const struct find_fault *fault, const struct config_list *set);

/* The table of part 1, and every miss with its reason. */
void find_report(const struct find *find);

/* What each part of a set of `effort` finds alone, and what is lost without it, over so many sets of each problem. 0, or -1
 * after a message. */
int find_ablate(const struct find *find, enum effort effort, int sets);

#endif
