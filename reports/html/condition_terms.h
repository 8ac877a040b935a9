/* Terms of a condition, as the axes of drawings: "k % 64 != 0 and input=special" has "k % 64" and "input".
 * gen/contract/condition.h defines the language. */
#ifndef UNSEEN_CONDITION_TERMS_H
#define UNSEEN_CONDITION_TERMS_H

#include "reports/record/result.h"

enum { TERM_SIZE = 96 };

struct term {
    /* an expression over numeric axes and derived sizes, or the name of a choice axis */
    char text[TERM_SIZE];
    int choice_axis; /* -1: the term is an expression */
};

/* Collects up to `most` distinct terms in the order of `text`, and returns their number. Expressions that
 * name no axis and no derived size are left out. */
int terms_of_condition(const struct problem *problem, const char *text, struct term *term, int most);
/* The term "NAME" of an axis. */
struct term term_of_axis(const struct problem *problem, int axis);
/* Computes a term's value; for a choice, its index. Returns false if the value is unknown: division by zero,
 * or a derived size that the result lacks. */
bool term_value(const struct term *term, const struct config_result *config, double *value);
bool term_is_residue(const struct term *term);
/* The numeric axis of a residue term "AXIS % N"; -1: the term is no residue. */
int term_residue_axis(const struct term *term, const struct problem *problem);

#endif
