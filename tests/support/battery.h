/* The battery that tests the tester. Every candidate under problems/ is verified over several seeds, and its
 * verdict compared with the one in its first lines. */
#ifndef UNSEEN_TESTS_BATTERY_H
#define UNSEEN_TESTS_BATTERY_H

#include <stdbool.h>

enum { BATTERY_SEEDS = 3, BATTERY_PATH = 160 };

/* A candidate, and the comment at its top. */
struct specimen {
    char source[BATTERY_PATH]; /* the text for people: the file itself, or the patch that it is made from */
    char path[BATTERY_PATH];   /* the file that is verified */
    char problem[32];
    char expected[24]; /* the verdict: general, limited, specialized, broken */
    char fault[64];    /* empty: honest */
    char outcomes[96]; /* words that its failures may legitimately show */
    char when[256];    /* a condition that all its failing configurations meet; empty: none declared */
};

/* One verification of one specimen. */
struct trial_run {
    int specimen;
    unsigned long long seed;
    int status; /* exit status of the tool */
    char verdict[24];
    char failure[24]; /* an outcome among the failing configurations, a declared one if possible */
    bool outcome_declared;
    char config[320];    /* of that configuration */
    char elsewhere[320]; /* a failing configuration that its condition excludes; empty: none */
    double seconds;
};

/* All specimens with the suffix (".c", ".cu") of all problems; the count. Exits when there are none, one has
 * no header, or the file of a patch was not made (`make faults`). */
int battery_list(const char *suffix, struct specimen **out);

/* The runs of a check: among all specimens with all seeds, in order, those whose number plus `rotation` is a
 * multiple of `share`. */
struct battery_sample {
    unsigned long long first_seed;
    int share, rotation;
};

/* The runs of a sample, malloced, not yet made; their number. */
int battery_plan(int specimens, const struct battery_sample *sample, struct trial_run **out);

/* Make them, `parallel` at a time, on `device`, printing a line each. */
void battery_run(const struct specimen *specimen, const char *device, int parallel, struct trial_run *runs,
                 int count);

/* NULL when the run shows the expected verdict, for the declared cause; else a message in a static buffer. */
const char *battery_mismatch(const struct specimen *specimen, const struct trial_run *run);

#endif
