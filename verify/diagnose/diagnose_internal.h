/* What the parts of a diagnosis share. */
#ifndef UNSEEN_DIAGNOSE_INTERNAL_H
#define UNSEEN_DIAGNOSE_INTERNAL_H

#include "diagnose.h"
#include "shrinking.h"

struct diagnosing {
    const struct task *task;
    const struct diagnose_limits *limits;
    struct result *result;
    struct shrinking shrinking;
    enum outcome outcome;       /* of the failure that is shrunk */
    struct shrinking_rate rate; /* of the same configuration, run again */
    struct diagnosis *out;
    struct config *asked; /* for the sake of a rule, and no step of shrinking */
    int asked_count, asked_room;
};

/* By the checks, which are what is repeated: a configuration that failed only when timed has passed them. */
enum outcome diagnosing_outcome(const struct diagnosing *d, const struct config_result *result);
bool diagnosing_fails(const struct diagnosing *d, const struct config_result *result);
/* Is it one of the sets' configurations, and no step of shrinking? */
bool diagnosing_is_of_set(const struct diagnosing *d, const struct config_result *result);

/* A rule as the result has it, without what only another device has. */
struct rule;
void diagnosing_record(const struct diagnosing *d, struct rule *rule, struct result_rule *out);

/* For the sake of a rule. False: it is over. */
bool diagnosing_ask(struct diagnosing *d, const struct config *config, struct config_result *result);

/* kinds.c: a rule for each kind of failure, where no rule is right about all of them. */
void kinds_explain(struct diagnosing *d);

#endif
