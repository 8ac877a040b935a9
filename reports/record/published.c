#include "published.h"

enum outcome published_outcome(const struct config_result *config)
{
    switch (config->outcome) {
    case OUTCOME_CRASH:
    case OUTCOME_TIMEOUT:
    case OUTCOME_EXCEEDED:
    case OUTCOME_REFUSED:
    case OUTCOME_SKIPPED: return config->outcome;
    default: break;
    }
    if (!config->published_judged)
        return OUTCOME_SKIPPED;
    return config->published_pass ? OUTCOME_PASS : OUTCOME_WRONG;
}

enum outcome config_outcome(const struct config_result *config, bool published)
{
    return published ? published_outcome(config) : config->outcome;
}

bool config_fails(const struct config_result *config, bool published)
{
    return outcome_fails(config_outcome(config, published));
}

struct published_tally published_count(const struct result *result)
{
    struct published_tally tally = {0, 0};

    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *config = &result->results[i];

        if (!outcome_is_rejected(config->outcome))
            continue;
        tally.rejected++;
        tally.accepted += published_outcome(config) == OUTCOME_PASS;
    }
    return tally;
}

bool published_decides(const struct result *result)
{
    return result->published_tolerance && result->published_judged && result->verdict != VERDICT_CHEATING &&
           result->verdict != VERDICT_FORBIDDEN;
}

enum element_verdict result_verdict(const struct result *result)
{
    return published_decides(result) ? result->published_verdict : result->verdict;
}
