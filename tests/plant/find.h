/* How soon real bugs (tests/corpora/bugs/) and planted faults are met, by our drawing and by other ways. Only
 * the truth decides. */
#ifndef UNSEEN_TESTS_FIND_H
#define UNSEEN_TESTS_FIND_H

#include "plant_run.h"
#include "tests/corpora/bugs/list.h"

enum find_way { FIND_STANDARD, FIND_QUICK, FIND_UNIFORM, FIND_LOG_UNIFORM, FIND_QUOTA, FIND_WAYS };

/* The number of configurations in the unseen set of an effort, scouts included. */
int find_many(enum effort effort);

/* The configurations that one way draws for a seed, in the order of their runs. Our sets have that effort,
 * and all others as many configurations as `standard`. Returns 0, or -1 after a message. */
int find_draw(struct config_list *out, enum find_way way, const struct plant_field *field, uint64_t seed);

enum { FIND_MOST_SEEDS = 9, FIND_TEXT = 240 };

enum find_family {
    FIND_BUG,   /* a real bug */
    FIND_TABLE, /* a kernel that takes other sizes for published ones (find_tables.c) */
    FIND_PLANT, /* a planted fault */
    FIND_FAMILIES
};

struct find_fault {
    enum find_family family;
    const struct bug *bug;  /* for a real bug, else NULL */
    char text[FIND_TEXT];   /* for a table: `when` */
    struct condition *when; /* but of a plant */
    struct plant plant;
    const struct plant_field *field;
    int first[FIND_WAYS][FIND_MOST_SEEDS]; /* the first configuration that shows it, from 1; 0: none does */
};

struct find {
    struct plant_field *field;
    int fields;
    struct bug *bug;
    struct find_fault *fault; /* by family */
    int faults, of_family[FIND_FAMILIES], seeds;
    uint64_t seed;
};

/* Adds the conditions of tables, for every field, behind the present faults; there is room. 0, or -1 after a
 * message. */
int find_add_tables(struct find *find);
enum { FIND_MOST_TABLES = 2048 };

/* Read the real bugs, those set aside or the others; draw as many faults; measure them all ways. 0, or -1
 * after a message. */
int find_plant(struct find *find, int faults, bool held_out);
int find_measure(struct find *find);
void find_clear(struct find *find);

bool find_is_reachable(const struct find_fault *fault);
bool find_is_met(const struct find_fault *fault, const struct config *config); /* it is sure to show */
bool find_is_on_seen(const struct find_fault *fault);
/* The first place in the set that meets it, from 1; 0: none. */
int find_first(const struct find_fault *fault, const struct config_list *set);

/* The table of part 1, and every miss with its reason. */
void find_report(const struct find *find);

/* The share of faults that each part of a set of `effort` finds alone, and the loss without it, over so many
 * sets of each problem. 0, or -1 after a message. */
int find_ablate(const struct find *find, enum effort effort, int sets);

#endif
