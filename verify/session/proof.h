/* Proofs of cheating, each by calls in which nothing else can be the cause. They become findings. */
#ifndef UNSEEN_PROOF_H
#define UNSEEN_PROOF_H

#include "judge.h"
#include "buffers.h"
#include "clocks.h"

struct session;
struct series;

/* Called under the lease: does the median of the samples show work that outlives the call? Then the time is
 * not reliable; if further calls of the series prove it, it is a finding. */
void clock_prove(struct session *s, struct series *series, const struct clocks *median, const char *line);

/* `got`, the output of this call on a near duplicate, is wrong. Does it have exactly the bits of the answer
 * without the changed element, and is the output right in a process of its own? Then it was not computed,
 * which is a finding. near NULL: the caller has compared, and `own` has the near duplicate. `where` is
 * appended to the configuration. False: no verdict is possible. */
bool replay_prove(struct session *s, const struct judging *judging, const struct content *content,
                  const struct call *call, const struct near *near, const char *where);
/* The same for a completely different draw: output k of this call, judged in `report`, has the bits of the
 * answer to the preceding draw. */
bool replay_prove_fresh(struct session *s, const struct judging *judging, const struct call *call, int k,
                        const struct judge_report *report, bool *proved);

#endif
