/* What exchanges take by themselves: in a process that has the tensors of a series and no candidate, which nobody has tampered with.
 * Internal to sessions; on the host. */
#ifndef UNSEEN_CONTROL_H
#define UNSEEN_CONTROL_H

#include "series.h"

struct control {
    struct session *session;
    struct child *child; /* NULL: not started yet */
};

/* One exchange on the series' last content. *rest_ms: what it took by the judge's clock, without flushing, as series_call has
 * it. False: there is no such process. */
bool control_exchange(struct control *control, struct series *series, double *rest_ms);

/* Does a process without the candidate take the tensors of a setup? */
bool control_maps(struct session *session, const struct setup *setup);

void control_close(struct control *control);

#endif
