/* A configuration of a task as a result begins with it, and all of them for a candidate that cannot run. */
#include <stdlib.h>
#include <string.h>

#include "gen/contract/space.h"
#include "run_internal.h"

void run_describe(const struct task *task, int i, struct config_result *result)
{
    const struct drawn *drawn = run_drawn(task, i);
    memset(result, 0, sizeof *result);
    result->unseen = i >= task->seen_set.count;
    result->scout = drawn->scout;
    result->directed = drawn->directed;
    result->config = drawn->config;
    config_format(&drawn->config, result->line, sizeof result->line);
    snprintf(result->why, sizeof result->why, "%s", drawn->why);
    snprintf(result->workload, sizeof result->workload, "%s", drawn->note.workload);
    result->calls = drawn->note.calls;
}

int run_list(const struct task *task, struct result *result)
{
    const int total = task->seen_set.count + task->unseen_set.count;
    result->results = calloc((size_t)total + 1, sizeof *result->results);
    if (!result->results)
        return -1;
    for (int i = 0; i < total; i++) {
        run_describe(task, i, &result->results[i]);
        result->results[i].outcome = OUTCOME_SKIPPED;
        result->results[i].reason = (struct reason){.stage = STAGE_NOT_RUN, .tensor = -1};
    }
    result->result_count = total;
    return 0;
}
