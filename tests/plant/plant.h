/* Planted faults: honest kernels with one fault, drawn from a grammar
 *     fault     := condition x damage x place
 *     condition := term | term and term | term or term
 *
 * The truth is attached: the condition under which each one fails, in the language of
 * gen/contract/condition.h. */
#ifndef UNSEEN_TESTS_PLANT_H
#define UNSEEN_TESTS_PLANT_H

#include <stdbool.h>

#include "gen/contract/condition.h"
#include "gen/draw/draw.h"
#include "gen/random/pcg.h"

enum { PLANT_PATH = 512, PLANT_TEXT = 160, PLANT_WHEN = 240, PLANT_MAX_SOURCES = 48 };

/* The target for the faults of one problem. */
struct plant_field {
    const struct problem *problem;
    bool cuda;
    char root[PLANT_PATH / 2]; /* the repository */
    struct space space;
    struct config_list seen;
    struct draw_caps caps;
    char source[PLANT_MAX_SOURCES][PLANT_PATH]; /* honest candidates */
    int sources;
};

/* Contract, seen set and honest sources as the tool takes them. Returns 0, or -1 after a message on
 * standard error. */
int plant_field_open(struct plant_field *field, const struct problem *problem, bool cuda, const char *root,
                     const struct draw_caps *caps);
void plant_field_clear(struct plant_field *field);

enum plant_kind {
    PLANT_NOT_MULTIPLE, /* k % 64 != 0 */
    PLANT_RESIDUE,      /* k % 64 == 1 */
    PLANT_ABOVE,        /* k > 4096 */
    PLANT_BELOW,        /* k < 16 */
    PLANT_SEEN_VALUE,   /* k == 4096, one of the seen values */
    PLANT_OTHER_VALUE,  /* k != 4096 and k != 8192, all of the seen values */
    PLANT_PRODUCT,      /* m * n > 2147483648 */
    PLANT_RELATION,     /* heads / kv_heads == 3 */
    PLANT_KINDS
};
const char *plant_kind_name(enum plant_kind kind);

struct plant_term {
    enum plant_kind kind;
    char text[PLANT_TEXT]; /* over the axes of the contract */
    char code[PLANT_TEXT]; /* over the arguments of the kernel, and values that contents.in derives from
                            * them */
    unsigned axes;         /* one bit an axis */
    int64_t modulus;       /* 0: none */
    int64_t value;         /* residue or threshold */
};

enum plant_join { PLANT_SINGLE, PLANT_AND, PLANT_OR };

/* Values with the same names in the skeletons. */
enum plant_damage {
    PLANT_UNWRITTEN,
    PLANT_LATE,
    PLANT_STALE,
    PLANT_SCALED,
    PLANT_NAN,
    PLANT_LOW_BITS,
    PLANT_OVERRUN,
    PLANT_RACE,
    PLANT_REFUSED,
    PLANT_DAMAGES
};

struct plant {
    const struct problem *problem;
    uint64_t seed;
    int number;
    enum plant_join join;
    struct plant_term term[2];
    char when[PLANT_WHEN];       /* it fails nowhere else */
    struct condition *condition; /* the same, parsed */
    enum plant_damage damage;
    int place;          /* index into the table of places */
    int output;         /* tensor */
    int bytes;          /* of an overrun */
    const char *source; /* honest candidate; owned by the field */
    const char *verdict, *outcomes;
    bool intermittent;     /* may pass where the condition holds */
    bool by_bits;          /* lost bits: sure to show only where values have bits to lose */
    bool reachable;        /* some configuration within caps and contract meets the condition */
    struct config example; /* that configuration, when there is one */
};

/* Draws fault `number` of `seed`. Returns 0; -1 when out of memory. plant_clear() afterwards. */
int plant_draw(struct plant *plant, const struct plant_field *field, uint64_t seed, int number);
void plant_clear(struct plant *plant);

/* Whether it may fail there, and whether it must. They differ only for damage that the values may hide. */
bool plant_may_show(const struct plant *plant, const struct config *config);
bool plant_must_show(const struct plant *plant, const struct config *config);
bool plant_on_seen(const struct plant *plant, const struct plant_field *field);

/* Writes the candidate; `control`: the same file with the fault switched off, right everywhere. Returns 0,
 * or -1 after a message on standard error. */
int plant_write(const struct plant *plant, const struct plant_field *field, bool control, const char *path);

/* The condition as a C expression over the kernel's extents. */
void plant_condition_code(const struct plant *plant, char *text, size_t size);

/* --- the parts of a draw --- */
/* One condition: term[], join, when, condition. Returns 0; -1 when out of memory. */
int plant_draw_condition(struct plant *plant, const struct plant_field *field, struct pcg *pcg);
void plant_draw_damage(struct plant *plant, const struct plant_field *field, struct pcg *pcg);
const char *plant_place_code(const struct plant *plant);
const char *plant_damage_code(enum plant_damage damage);
void plant_describe(const struct plant *plant, char *text, size_t size); /* "last column: NaN in ..." */

/* A configuration inside the contract, and within the caps unless `anywhere`, where the condition holds (or,
 * with `holds` false, does not). The search first solves the condition on the axes that it names, smallest
 * values first and all other axes at their least. Then it tries at random. */
bool plant_search(const struct plant *plant, const struct plant_field *field, bool holds, bool anywhere,
                  struct pcg *pcg, struct config *out);

/* Any configuration inside the limits, log-uniform; not bounded by the caps. */
bool plant_random_config(const struct plant_field *field, struct pcg *pcg, struct config *out);

/* One of several, by chance. */
static inline int64_t plant_pick(struct pcg *pcg, const int64_t *value, int count)
{
    return value[pcg_below(pcg, (uint64_t)count)];
}

#endif
