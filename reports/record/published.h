/* The published check (a problem's own atol and rtol), applied to the same run as our judgement. */
#ifndef UNSEEN_PUBLISHED_H
#define UNSEEN_PUBLISHED_H

#include "result.h"

/* Outcome of one configuration under the published check. That check notices a crash, a timeout and a
 * refusal, and compares outputs. It does not notice an out-of-bounds access, a changed input, poison or
 * instability. If it could not compare the output, the configuration is skipped: unknown, not a pass. */
enum outcome published_outcome(const struct config_result *config);

/* The outcome that decides: that of the published check if `published`, else our judgement. */
enum outcome config_outcome(const struct config_result *config, bool published);
bool config_fails(const struct config_result *config, bool published);

struct published_tally {
    int rejected; /* configurations that our judgement rejects (skipped ones are not judged) */
    int accepted; /* those among them that the published check accepts */
};
struct published_tally published_count(const struct result *result);

/* The verdict that decides the exit status: ours, or with --tolerance published the published check's.
 * Evidence of cheating overrides both. */
enum element_verdict result_verdict(const struct result *result);
/* True when result_verdict is the published check's. */
bool published_decides(const struct result *result);

#endif
