#ifndef UNSEEN_SESSION_INTERNAL_H
#define UNSEEN_SESSION_INTERNAL_H

#include "verify/util/clock.h"
#include "verify/util/defence.h"
#include "evidence.h"
#include "judge.h"
#include "worker.h"

struct session {
    struct session_options options;
    struct worker worker;
    struct buffers buffers;
    struct judge judge;
    struct evidence evidence;
    struct status status;
};

/* Ends the work on a configuration: a lack of memory becomes the outcome `skipped`. */
void session_settle(struct session *s, struct config_result *result);

struct mix;
/* Makes the calls of a configuration in the current process, and judges them. `once`: only the first call.
 * mix: one call on blended values; NULL: values as drawn. */
enum session_status check_calls(struct session *s, const struct config *config, const struct mix *mix,
                                bool once, struct config_result *result);

/* The call of a configuration whose outputs are in `got` of the current tensors. */
struct judging session_judging(const struct session *s, const struct config *config,
                               const struct instance *instance, int call);

/* Unmaps the current tensors from the candidate's processes and frees them. */
void session_unmap(struct session *s);

#endif
