/* Coverage by the configurations of a run: classes of the contract's axes, and branches of the candidate. */
#ifndef UNSEEN_REPORT_COVERAGE_H
#define UNSEEN_REPORT_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Combinations of axis classes that the unseen set covers. */
struct result_coverage {
    int strength; /* 2: pairs, 3: triples, 0: not counted */
    int64_t covered, possible, excluded_by_caps, excluded_by_contract;
};

/* A branch that no call took. */
struct result_branch {
    char file[64]; /* base name */
    int line;
    char text[96];    /* of this line */
    char outcome[48]; /* "to line 119", "value 3", "another value", "where <=" */
};

enum { RESULT_BRANCHES = 64 };

/* Branches of the candidate's code, from calls of an instrumented build. */
struct result_branches {
    bool present;
    int taken, count;
    int called,
        configurations; /* the build was called on so many of the run's configurations, the cheapest */
    int added;          /* of these, drawn for branches that no other takes */
    double seconds;
    char note[400];                              /* what is lacking; empty: nothing */
    struct result_branch never[RESULT_BRANCHES]; /* the first ones that no call took */
    int nevers;
};

#endif
