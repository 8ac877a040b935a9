/* Failures that need two configurations in one process: a sibling that is checked after each configuration,
 * and the search for an earlier one. */
#ifndef UNSEEN_PAIR_H
#define UNSEEN_PAIR_H

#include "session.h"

struct worker;

/* After a configuration has passed, checks its sibling, if it has one (sibling_check.c). False: see
 * s->status.code. */
bool sibling_check(struct session *s, const struct config *config, struct config_result *result);
/* Makes one call in a new process, or in the current one. Does it fail, in a way that a pair may cause? */
bool pair_call_fails(struct session *s, const struct config *config, bool fresh,
                     struct config_result *result);
/* Does `config` fail after `after`, which itself passes, in each of `times` new processes? */
bool pair_fails_after(struct session *s, const struct config *config, const struct config *after, int times,
                      struct config_result *result);
/* Records that `config` fails after `after`, and passes alone. */
void pair_record(const struct problem *problem, const struct config *config, const struct config *after,
                 struct result_pair *pair);
/* Should the current model of an imported task be kept for the sibling? `config` has passed. */
bool sibling_wants_model(const struct worker *worker, const struct config *config, double bytes);

#endif
