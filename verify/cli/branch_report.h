/* The branches of the candidate in the report of `unseen verify`. */
#ifndef UNSEEN_BRANCH_REPORT_H
#define UNSEEN_BRANCH_REPORT_H

#include "options.h"
#include "verify/coverage/branch_coverage.h"

/* Counts them after task_draw, and may add configurations to the task's unseen set. Without directed
 * configurations, and with --effort reward, it does so for --min-coverage only, and adds none. Returns 0
 * or an exit status. */
int branch_report_open(struct branch_coverage *coverage, struct task *task, const struct options *options);

/* Copies them to the result; without a coverage only the reason. */
void branch_report_fill(struct result *result, const struct branch_coverage *coverage,
                        const struct options *options);

/* Accepts what --min-coverage asks for. A candidate without a coverage is accepted without --min-coverage
 * only. */
bool branch_report_suffices(const struct options *options, const struct result *result);

#endif
