/* Real runs of planted faults and their controls through build/unseen, compared with the truth. */
#ifndef UNSEEN_TESTS_PLANT_RUN_H
#define UNSEEN_TESTS_PLANT_RUN_H

#include "plant.h"

enum { PLANT_MAX_WORDS = 12, PLANT_CONFIG = 320 };

struct plant_trial {
    const struct plant *plant;
    const struct plant_field *field;
    bool control;
    char path[PLANT_PATH]; /* the candidate's; its JSON file lies beside it */
    const char *seen;      /* --seen; NULL: the tool's own, whose verdict is then checked */
    /* filled: */
    int status; /* exit status; negative: the signal that killed it */
    char verdict[24];
    int judged, failed, skipped;
    int first; /* the first configuration that failed, seen ones counted; 0: none */
    double seconds;
    bool has_rule, has_minimal;
    char rule[PLANT_WHEN], kind[24], minimal[PLANT_CONFIG]; /* kind: the side that the rule is sure of */
    char mismatch[640]; /* the run's contradiction of the truth; empty: none */
};

struct plant_running {
    const char *tool;                   /* build/unseen */
    const char *words[PLANT_MAX_WORDS]; /* further options of `verify`; ends with NULL */
    int parallel;
    uint64_t seed;
    void (*done)(const struct plant_trial *trial); /* may be NULL */
};

/* Writes every candidate, runs all, and judges. Returns 0, or -1 after a message. */
int plant_run(struct plant_trial *trial, int count, const struct plant_running *running);

/* --- the tool's statements about a fault --- */

/* Shares of `draws` fresh configurations on which `rule` and the truth agree. Half of the draws are inside
 * the truth if so many are found. Draws where lost bits may or may not show do not count. The shares are of
 * all draws, of those where the rule holds, and of the others. -1: `rule` is no condition; 1: no draw lies on
 * that side. */
struct plant_agreement {
    double all, inside, outside;
};
struct plant_agreement plant_rule_agreement(const struct plant *plant, const struct plant_field *field,
                                            const char *rule, int draws);

/* True if no step of plant_steps.h still meets the truth. *step names one that does. */
bool plant_is_minimal(const struct plant *plant, const struct plant_field *field, const struct config *config,
                      struct config *step);

#endif
