/* The first error of a piece of work. Values that do the work together point to one status, and every
 * function of theirs that can fail records its error there and returns false. */
#ifndef UNSEEN_STATUS_H
#define UNSEEN_STATUS_H

#include <stdbool.h>

#include "verify/device/memory.h"

enum session_status {
    SESSION_OK,  /* the result is filled */
    SESSION_BAD, /* the candidate cannot be used at all: it does not load, or lacks the symbol (bad input) */
    SESSION_BROKEN, /* internal or environment error: the run must not give a verdict */
    SESSION_SHORT   /* internal: out of memory for this configuration, which is then skipped */
};

struct status {
    enum session_status code;
    char error[1024];
    const struct memory *memory; /* explains its error numbers */
    bool imported;               /* another process computes inputs or values of an imported task */
};

/* Records an error, unless there is one already. Returns false. */
bool status_break(struct status *status, enum session_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for an error number of memory.h or reference/, -1 for a lack of memory. A lack of memory costs
 * only this configuration. */
bool status_failed(struct status *status, const char *what, int error);

/* Ends the work on a configuration and returns its status. SESSION_SHORT is returned once, since the next
 * configuration may fit. */
enum session_status status_end(struct status *status);

#endif
