#include "quadrants.h"

#include <string.h>

#include "published.h"

static const struct config_result *find(const struct result *result, const struct config_result *like)
{
    for (int i = 0; i < result->result_count; i++)
        if (result->results[i].unseen == like->unseen && strcmp(result->results[i].line, like->line) == 0)
            return &result->results[i];
    return NULL;
}

struct quadrants quadrants_of(const struct result *first, const struct result *second, bool unseen)
{
    struct quadrants q = {0};

    for (int i = 0; i < first->result_count; i++) {
        const struct config_result *a = &first->results[i], *b;

        if (a->unseen != unseen || (b = find(second, a)) == NULL)
            continue;
        const enum outcome one = config_outcome(a, published_decides(first));
        const enum outcome other = config_outcome(b, published_decides(second));

        if (one == OUTCOME_SKIPPED || other == OUTCOME_SKIPPED)
            continue;
        q.both += one == OUTCOME_PASS && other == OUTCOME_PASS;
        q.first += one == OUTCOME_PASS && other != OUTCOME_PASS;
        q.second += one != OUTCOME_PASS && other == OUTCOME_PASS;
        q.neither += one != OUTCOME_PASS && other != OUTCOME_PASS;
    }
    return q;
}

int quadrants_common(const struct quadrants *q)
{
    return q->both + q->first + q->second + q->neither;
}

struct passed passed_of(const struct result *result, bool unseen)
{
    struct passed passed = {0};

    for (int i = 0; i < result->result_count; i++) {
        const enum outcome outcome = config_outcome(&result->results[i], published_decides(result));

        if (result->results[i].unseen != unseen || outcome == OUTCOME_SKIPPED)
            continue;
        passed.judged++;
        passed.pass += outcome == OUTCOME_PASS;
    }
    return passed;
}
