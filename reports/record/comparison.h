/* The record of a comparison: all data that its writers use. Plain data, filled by verify/. */
#ifndef UNSEEN_COMPARISON_H
#define UNSEEN_COMPARISON_H

#include "result.h"

/* Change of one configuration's time. */
enum change { CHANGE_UNDECIDED, CHANGE_SAME, CHANGE_FASTER, CHANGE_SLOWER };
enum { CHANGE_COUNT = CHANGE_SLOWER + 1 };
const char *change_name(enum change change); /* "slower" */

/* Estimate of a ratio of times, new / old, on a logarithmic scale: 0.03 means 3% slower. */
struct shift {
    struct interval log_ratio; /* 95% interval of this ratio, not corrected for multiple tests */
    double slower, faster;     /* p-values of "not slower (faster) than the margin" */
    double adjusted;           /* the smaller of both p-values, corrected for multiple tests */
    enum change change;
};

/* Change of one configuration's outcome. */
enum correctness {
    CORRECTNESS_KEPT,
    CORRECTNESS_GAINED,
    CORRECTNESS_LOST,
    CORRECTNESS_UNKNOWN /* one side did not run it there, or could not judge it */
};
const char *correctness_name(enum correctness correctness);

struct compared {
    bool unseen;
    struct config config;
    char line[RESULT_LINE_SIZE];
    enum outcome outcome[2];         /* of the old and of the new candidate */
    char detail[RESULT_DETAIL_SIZE]; /* the new candidate's failure, if it does not pass */
    enum correctness correctness;
    /* not timed: item `serves` - 1 differs in input class and seed only, and its time serves both; 0: none */
    int serves;
    double ms[2]; /* median times; 0: not timed */
    /* COMPARISON_DRIFT: log(old / reference baseline), measured on the old day. Not present in other kinds:
     * they time the old candidate itself. */
    struct interval reference;
    bool unknown; /* not timed: there is no old time to compare with */
    struct shift shift;
    int pairs, processes; /* pairs of times; processes of each candidate that produced them */
    const char *method;
    bool disturbed;
    /* a result says that its times depend on the machine's state: this ratio decides nothing */
    bool withheld;
};

/* Kind of comparison. */
enum comparison_kind {
    COMPARISON_NOW,    /* two candidates, timed now in alternation */
    COMPARISON_STORED, /* two stored results, compared as they are */
    COMPARISON_DRIFT   /* times of two days, each relative to the problem's baseline on its day */
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
    struct comparison_side side[2]; /* old and new candidate */
    char device[128];
    char options[600]; /* options of a command that reproduces one configuration; empty: none */
    uint64_t seed;
    struct compared *item;
    int count;
    int unmatched[2];       /* configurations that only the old side has, and that only the new side has */
    struct shift overall;   /* ratio over all timed configurations */
    struct interval set[2]; /* mean log ratio of the seen and of the unseen set, 95% intervals */
    int timed;
    int changed[CHANGE_COUNT]; /* timed configurations by change */
    int lost, gained, unknown;
    /* evidence of cheating by the new candidate that the old one does not show; empty: none */
    char finding[320];
    struct rule rule;  /* condition under which the new candidate is slower */
    double rule_ratio; /* mean ratio of times where the rule holds */
    enum gate gate;
    char notes[1024];
    double seconds;
};

void comparison_note(struct comparison *comparison, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
