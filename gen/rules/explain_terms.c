/* Measures how many runs support each term of a rule. A term with hardly any may be there by chance, since
 * some condition always fits a few runs. */
#include "explain_internal.h"

enum { TERM_RUNS = 20 };

static bool is_alone(const struct guess *rule, int at)
{
    return rule->starts[at] && (at + 1 == rule->count || rule->starts[at + 1]);
}

/* Returns the number of runs on which the rule and the rule without this term differ. A clause of one term is
 * removed as a whole. */
static int term_runs(const struct explainer *ex, const struct guess *rule, int at)
{
    const bool without = !is_alone(rule, at);
    int runs = 0;
    for (int t = 0; t < ex->trials; t++) {
        const int64_t *value = trial_values(ex, t);
        runs += guess_holds_if(ex, rule, value, at, without) != guess_holds(ex, rule, value);
    }
    return runs;
}

int terms_weakest(const struct explainer *ex, const struct guess *rule, bool *inside)
{
    int weakest = -1, least = TERM_RUNS;
    for (int at = 0; at < rule->count && rule->count > 1; at++) {
        const int runs = term_runs(ex, rule, at);
        if (runs < least) {
            least = runs;
            weakest = at;
            *inside = is_alone(rule, at);
        }
    }
    return weakest;
}

bool terms_test(struct explainer *ex, const struct guess *rule, const struct guesses *guesses,
                struct config *out)
{
    bool inside;
    const int weak = terms_weakest(ex, rule, &inside);
    return weak >= 0 && query_confirm(ex, guesses, QUERY_TURNS * weak + (inside ? 2 : 3), out);
}

int terms_drop_weak(const struct explainer *ex, struct guess *rule)
{
    int dropped = 0;
    bool inside;
    for (int at; (at = terms_weakest(ex, rule, &inside)) >= 0; dropped++)
        guess_remove(rule, at);
    return dropped;
}
