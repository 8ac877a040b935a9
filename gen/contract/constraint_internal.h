/* The parsed form of a constraint, shared by evaluation at a point (constraint.c) and over a box
 * (constraint_bounds.c). */
#ifndef UNSEEN_CONSTRAINT_INTERNAL_H
#define UNSEEN_CONSTRAINT_INTERNAL_H

#include "constraint.h"

enum { CONSTRAINT_MAX_STEPS = 64, CONSTRAINT_MAX_DEPTH = 32 };

enum op {
    OP_NUMBER,
    OP_AXIS,
    OP_DERIVED,
    OP_NEGATE,
    OP_POWER,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_REMAINDER,
    OP_ADD,
    OP_SUBTRACT,
    OP_LE,
    OP_GE,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_GT,
    OP_GCD,
    OP_POW2, /* pushes 1 for a power of two, else 0 */
    OP_IN,   /* pops `operand` members and then the value that is looked up among them */
    OP_NOT
};

/* A step in reverse Polish notation: operands push; operators pop their operands and push the result. */
struct step {
    enum op op;
    int64_t operand; /* a number, an axis index, a derived size's index, or the number of members of a set */
};

struct constraint {
    char *text;
    int count;
    struct step step[CONSTRAINT_MAX_STEPS];
};

/* Saturating 64-bit arithmetic. */
int64_t constraint_multiply(int64_t a, int64_t b);
int64_t constraint_add(int64_t a, int64_t b);
int64_t constraint_subtract(int64_t a, int64_t b);

#endif
