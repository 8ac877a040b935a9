/* Which verdicts have exit status 0: `general`, and with --accept limited `limited`. */
#ifndef UNSEEN_ACCEPT_H
#define UNSEEN_ACCEPT_H

#include "options.h"
#include "reports/record/result.h"

static inline bool accepts(const struct options *options, enum element_verdict verdict)
{
    return verdict == VERDICT_GENERAL || (options->accept_limited && verdict == VERDICT_LIMITED);
}

#endif
