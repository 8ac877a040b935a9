/* Planted conditions on the spaces of shapes/: the truth that explaining is measured against. */
#ifndef UNSEEN_TESTS_EXPLAIN_PLANTED_H
#define UNSEEN_TESTS_EXPLAIN_PLANTED_H

#include "gen/contract/condition.h"
#include "gen/draw/draw.h"
#include "gen/rules/explain.h"
#include "gen/random/pcg.h"

/* A problem with its contract, its seen set, the draws of a verification, and fresh draws to judge by. */
struct ground {
    struct space space;
    struct config_list seen;
    struct draw_caps caps;
    struct config_list known; /* the seen set, then the unseen one, its scouts last */
    struct config_list fresh; /* log-uniform, within the caps */
};

/* Each fails the test where it cannot do its work. Runs in the repository root. */
void ground_open(struct ground *ground, const char *problem, uint64_t seed, int unseen, int scouts,
                 int fresh);
void ground_close(struct ground *ground);
/* The configuration of a line of rule->unexplained. */
struct config ground_config(const struct ground *ground, const char *line);

/* The arguments of explain() and its questions: the planted condition answers. */
struct planted {
    const struct ground *ground;
    struct condition *condition;
    int (*answer)(struct planted *planted, const struct config *config); /* NULL: the condition */
    const struct clue_list *clues; /* of the code that holds the condition; NULL: none is known */
    bool strict;                   /* check that questions lie in the space and within the caps */
    int asked, outside;            /* calls; those outside */
    uint64_t state;
};
struct planted plant(const struct ground *ground, const char *text);
void planted_clear(struct planted *planted);
int planted_answer(void *planted, const struct config *config); /* an explain_run */

/* Adds the clues of code that holds the condition: its comparisons, clause by clause. */
void planted_clues(struct clue_list *list, const char *condition);

/* Runs explain on everything drawn. False: nothing drawn fails, and there is nothing to explain. */
bool planted_explain(struct planted *planted, int runs, uint64_t seed, struct rule *rule);

/* The rule of a planted condition, with PLANTED_RUNS runs. `answer` as above. */
enum { PLANTED_RUNS = 200 };
struct rule planted_rule(const struct ground *ground, const char *condition,
                         int (*answer)(struct planted *, const struct config *));

/* The share of fresh configurations on which the rule agrees with the condition. Half of them are at the
 * truth's edges. */
double planted_agreement(const struct planted *planted, const char *rule, uint64_t seed);

/* The shares among all, among those where the rule does not hold, and among those where it does. */
struct planted_agreement {
    double all, side[2];
};
struct planted_agreement planted_agree(const struct planted *planted, const char *rule, uint64_t seed);

/* A random condition of that family (0 .. PLANTED_KINDS - 1); its name. */
enum { PLANTED_KINDS = 11 };
const char *planted_kind_name(int kind);
void planted_text(const struct ground *ground, int kind, struct pcg *stream, char *text, size_t size);

#endif
