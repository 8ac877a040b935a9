/* Shared by lost.c and lost_result.c. */
#ifndef UNSEEN_TESTS_LOST_INTERNAL_H
#define UNSEEN_TESTS_LOST_INTERNAL_H

#include "lost.h"

/* Keep the files of the undisturbed run; false: they are not whole. */
bool lost_keep(enum lost_candidate candidate, const struct lost_run *run);
void lost_drop(void);

#endif
