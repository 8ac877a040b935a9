/* The published check (a problem's own atol and rtol) beside our judgement of the same run. */
#ifndef UNSEEN_PUBLISHED_H
#define UNSEEN_PUBLISHED_H

#include "result.h"

/* What the published check says of one configuration. It notices a crash, a timeout and a refusal, and
 * compares outputs; it sees no overrun, changed input, poison or instability. An output that it never
 * got to compare is skipped: unknown, not a pass. */
enum outcome published_outcome(const struct config_result *config);

/* The outcome that decides: by the published check alone where `published`, else by our judgement. */
enum outcome config_outcome(const struct config_result *config, bool published);
bool config_fails(const struct config_result *config, bool published);

struct published_tally {
    int rejected; /* configurations that our judgement rejects (skipped ones are not judged) */
    int accepted; /* of them, how many the published check passes */
};
struct published_tally published_count(const struct result *result);

/* The verdict that decides the exit status: our own, or with --tolerance published the published
 * check's; evidence of cheating stands under both. */
enum verdict result_verdict(const struct result *result);
/* True when result_verdict is the published check's. */
bool published_decides(const struct result *result);

#endif
