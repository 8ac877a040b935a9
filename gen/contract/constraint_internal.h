/* The parsed form of a constraint, for what evaluates it: at a point (constraint.c), over a box (constraint_bounds.c). */
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
    OP_POW2, /* 1: a power of two; 0 */
    OP_IN,   /* pops `operand` numbers and then what may be one of them */
    OP_NOT
};

/* Reverse Polish: operands push, operators pop theirs and push the result. */
struct step {
    enum op op;
    int64_t operand; /* the number, the index of the axis or of the derived size, or the members of a set */
};

struct constraint {
    char *text;
    int count;
    struct step step[CONSTRAINT_MAX_STEPS];
};

/* Whole numbers that saturate. */
int64_t constraint_multiply(int64_t a, int64_t b);
int64_t constraint_add(int64_t a, int64_t b);
int64_t constraint_subtract(int64_t a, int64_t b);

#endif
