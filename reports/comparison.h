/* The record of a comparison: everything its writers may know. Plain data, filled by verify/. */
#ifndef UNSEEN_COMPARISON_H
#define UNSEEN_COMPARISON_H

#include "result.h"

/* Of the time of one configuration. */
enum change { CHANGE_UNDECIDED, CHANGE_SAME, CHANGE_FASTER, CHANGE_SLOWER };
enum { CHANGE_COUNT = CHANGE_SLOWER + 1 };
const char *change_name(enum change change); /* "slower" */

/* What is known of a ratio of times, new / old, on logarithms: 0.03 is 3% slower. */
struct shift {
    struct interval log_ratio; /* 95%, of this ratio alone */
    double slower, faster;     /* p: that it is not beyond the margin, on that side */
    double adjusted;           /* the less of the two, after all corrections */
    enum change change;
};

/* Of what a configuration came to. */
enum correctness {
    CORRECTNESS_KEPT,
    CORRECTNESS_GAINED,
    CORRECTNESS_LOST,
    CORRECTNESS_UNKNOWN /* one of them was not run there, or not judged */
};
const char *correctness_name(enum correctness correctness);

struct compared {
    bool unseen;
    struct config config;
    char line[RESULT_LINE_SIZE];
    enum outcome outcome[2];         /* of old and new */
    char detail[RESULT_DETAIL_SIZE]; /* of the new one where it does not pass */
    enum correctness correctness;
    int serves; /* not timed: the one with number serves - 1, which differs in input class and seed only, serves for both; 0: none */
    double ms[2]; /* medians; 0: not timed */
    /* COMPARISON_DRIFT: log(old / the problem's baseline) of its day. Not present: the old candidate itself is timed. */
    struct interval reference;
    bool unknown; /* not timed: there is nothing to hold it against */
    struct shift shift;
    int pairs, processes; /* pairs of times, and processes of each candidate that they come from */
    const char *method;
    bool disturbed;
    bool withheld; /* its ratio is of the machine, too, by what a result says of itself: it decides nothing */
};

/* What was compared. */
enum comparison_kind {
    COMPARISON_NOW,    /* two candidates, now, in turns */
    COMPARISON_STORED, /* two results as they are */
    COMPARISON_DRIFT   /* times of two days, each held against the problem's baseline on its day */
};

enum gate { GATE_PASSED, GATE_REGRESSION, GATE_INCONCLUSIVE };
const char *gate_name(enum gate gate);

struct comparison_side {
    char path[512], sha256[65];
};

struct comparison {
    const char *version, *git;
    const char *problem, *problem_word;
    enum comparison_kind kind;
    bool outcomes_only;             /* --no-timing */
    struct comparison_side side[2]; /* old and new */
    char device[128];
    char options[600]; /* of a command that shows one configuration again; empty: none */
    uint64_t seed;
    struct compared *item;
    int count;
    int unmatched[2];       /* configurations that only the old one has, only the new one */
    struct shift overall;   /* over all configurations that were timed */
    struct interval set[2]; /* the mean log ratio of the seen and of the unseen ones, 95% */
    int timed;
    int changed[CHANGE_COUNT]; /* of those that were timed */
    int lost, gained, unknown;
    char finding[320]; /* evidence of cheating in the new one, which the old one does not give; empty: none */
    struct result_rule rule; /* when it is slower */
    double rule_ratio;       /* by how much there */
    enum gate gate;
    char notes[1024];
    double seconds;
};

void comparison_note(struct comparison *comparison, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
