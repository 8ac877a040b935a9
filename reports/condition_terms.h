/* The terms of a condition, for drawings: "k % 64 != 0 and input=special" has "k % 64" and "input". gen/contract/condition.h
 * defines the language. */
#ifndef UNSEEN_CONDITION_TERMS_H
#define UNSEEN_CONDITION_TERMS_H

#include "result.h"

enum { TERM_SIZE = 96 };

struct term {
    char text[TERM_SIZE]; /* an expression over number axes and derived sizes, or the name of a choice axis */
    int choice_axis;      /* -1: an expression */
};

/* Up to `most` different terms, in their order in `text`. Expressions that name neither axes nor derived sizes are left out. */
int terms_of_condition(const struct problem *problem, const char *text, struct term *term, int most);
/* The term "NAME" of an axis. */
struct term term_of_axis(const struct problem *problem, int axis);
/* Its value: of a choice, its number. False: unknown for this configuration (a division by 0, a derived size that the result
 * does not hold). */
bool term_value(const struct term *term, const struct config_result *config, double *value);
bool term_is_residue(const struct term *term);
/* The number axis that "AXIS % N" is the residue of; -1: it is none. */
int term_residue_axis(const struct term *term, const struct problem *problem);

#endif
