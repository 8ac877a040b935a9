/* The condition under which a candidate fails, as gen/rules finds it and as reports store it. */
#ifndef UNSEEN_RULE_H
#define UNSEEN_RULE_H

#include <stdbool.h>

/* Whether a rule is confirmed on both sides of its condition, or on one. */
enum rule_kind {
    RULE_TWO_SIDED, /* fails where the condition holds, passes elsewhere */
    RULE_NECESSARY, /* every failure satisfies the condition; some passes do too, perhaps with other inputs */
    RULE_PARTIAL,   /* always fails where the condition holds; some failures lie elsewhere */
    RULE_KINDS
};

enum { RULE_UNEXPLAINED = 3, RULE_LINE_SIZE = 1024 };

struct rule {
    bool present;
    enum rule_kind kind;
    bool always;              /* it fails for every configuration; `text` is "any" */
    char text[240];           /* a condition (gen/contract/condition.h): "k % 64 != 0 and input=special" */
    char reason[400];         /* no rule was found: why, the attempts made and the closest condition */
    char closest[240];        /* no rule was found: the condition that came closest; "": none */
    int fails_inside, inside; /* fresh runs where the rule predicts a failure: how many failed, of how many */
    int passes_outside, outside; /* fresh runs where the rule predicts a pass: how many passed, of how many */
    double precision, recall;    /* over all runs, fresh ones included */
    int runs;                    /* all runs that the search made */
    char code[120];              /* where its terms stand in the candidate's code: "line 88"; "": nowhere */
    char limit[200]; /* the limit of CUDA devices that a threshold of the rule equals, in words; "": none */

    /* A necessary rule: the condition that best separates failures from passes inside it; "": none. */
    char inner[240];
    /* runs inside the rule: where `inner` holds, and where it does not */
    int inner_fails, inner_runs, other_fails, other_runs;

    int explained, failures; /* failures inside the rule, and all failures, fresh ones included */
    /* A partial rule: the first failures outside it, as configuration lines; "": no more. */
    char unexplained[RULE_UNEXPLAINED][RULE_LINE_SIZE];
};

#endif
