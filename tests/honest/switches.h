/* The two tables that a program with switches exports; see honest.h. */
#ifndef UNSEEN_TEST_SWITCHES_H
#define UNSEEN_TEST_SWITCHES_H

enum { HONEST_MAX_SWITCHES = 16, HONEST_MAX_VALUES = 16 };

/* One admitted freedom. The first value is the plainest. */
struct honest_switch {
    const char *name;                          /* NULL ends the table */
    const char *values[HONEST_MAX_VALUES + 1]; /* NULL-terminated */
    /* For each value the least compute capability (10 major + minor) whose declared arithmetic admits it; 0:
     * everywhere, the host too. */
    int capability[HONEST_MAX_VALUES];
};

/* One numerical fault in an otherwise plain kernel. */
struct honest_mutant {
    const char *name;     /* NULL ends the table */
    const char *what;     /* one line: its fault */
    const char *admitted; /* NULL: it must be rejected; else why the declared arithmetic has room for it */
    int capability; /* the least at which it has: matrix units, or a fast tanh, are admitted there only */
};

#endif
