/* The result of a verdict before its first run. */
#ifndef UNSEEN_BEGIN_RESULT_H
#define UNSEEN_BEGIN_RESULT_H

#include "options.h"
#include "reports/record/result.h"
#include "verify/session/task.h"

/* Fills everything that the settings and the drawn sets decide. */
void begin_result(const struct task *task, const struct options *options, struct result *result);

/* Fills the ceilings that are known now. Without timing, nothing is measured. */
void begin_peaks(const struct task *task, struct peaks *peaks);

#endif
