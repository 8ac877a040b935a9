/* Measures the cost of an exchange itself, by a control process. It has the tensors of a series but no
 * candidate, so nobody can tamper with it. Internal to sessions; on the host. */
#ifndef UNSEEN_CONTROL_H
#define UNSEEN_CONTROL_H

#include "worker.h"

struct series;

struct control {
    struct worker *worker;
    struct child *child; /* NULL: not started yet */
};

/* Makes one exchange on the series' last draw. *rest_ms is its time by the judge's clock without flushing, as
 * in series_call. False: there is no such process. */
bool control_exchange(struct control *control, struct series *series, double *rest_ms);

/* Can a process without the candidate map the tensors of a setup? */
bool control_maps(struct worker *worker, const struct setup *setup);

void control_close(struct control *control);

#endif
