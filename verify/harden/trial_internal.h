#ifndef UNSEEN_HARDEN_TRIAL_INTERNAL_H
#define UNSEEN_HARDEN_TRIAL_INTERNAL_H

#include "trial.h"

/* The sizes of a configuration: axis by axis. NULL when out of memory. */
json_t *trial_sizes(const struct config *config);

#endif
