/* Repeats passes that may be due to chance in the inputs. One pass inside a simple rule rejects it, and a
 * more complicated rule that avoids this pass takes its place. So the point is run again, with other seeds
 * and more sensitive inputs, before the pass counts against a rule. */
#include "explain_internal.h"

enum { ASKED_AGAIN = 3, DOUBT_SHARE = 5 };

static int doubts_allowed(const struct explainer *ex)
{
    return ex->most_runs / DOUBT_SHARE;
}

/* Returns the input class of this rank in the contract (1: the most sensitive), or -1 if there is none. */
static int64_t sharp_class(const struct explainer *ex, int rank)
{
    const struct problem *problem = ex->space->problem;
    const int input = problem_input_axis(problem);
    int64_t found = -1;
    if (input < 0)
        return -1;
    const struct domain *domain = &ex->space->domain[input];
    for (int i = 0; found < 0 && i < domain->value_count; i++)
        if (problem->classes[domain->value[i]].discriminating == rank)
            found = domain->value[i];
    return found;
}

/* Changes the inputs, by turns: the most sensitive class, the same class with another seed, the second most
 * sensitive. Returns false if the contract does not have them. */
static bool sharpen(struct explainer *ex, int turn, struct config *config)
{
    const int input = problem_input_axis(ex->space->problem);
    const int64_t class = turn == 1 ? -1 : sharp_class(ex, turn == 0 ? 1 : 2);
    if (turn != 1 && (class < 0 || class == config->value[input]))
        return false;
    if (class >= 0)
        config->value[input] = class;
    return space_contains(ex->space, config, NULL) && explainer_reseed(ex, config);
}

/* Returns whether some failure has the input class. A class without known failures hides the fault each time,
 * so its passes are not due to chance. */
static bool class_fails(const struct explainer *ex, const struct config *config)
{
    const int input = problem_input_axis(ex->space->problem);
    for (int t = 0; input >= 0 && t < ex->trials; t++)
        if (bit_of(ex->fails, t) && ex->config[t].value[input] == config->value[input])
            return true;
    return input < 0;
}

static void set_lucky(struct explainer *ex, int trial)
{
    ex->passes[trial / 64] &= ~((uint64_t)1 << trial % 64);
    bit_set(ex->lucky, trial);
}

bool doubt_pass(struct explainer *ex, int trial)
{
    const int first = ex->trials, before = ex->runs;
    bool lucky = false;
    if (ex->doubts >= doubts_allowed(ex))
        return false;
    for (int turn = 0; turn < ASKED_AGAIN && !lucky && explainer_may_run(ex); turn++) {
        struct config config = ex->config[trial];
        if (!sharpen(ex, turn, &config) || explainer_ask(ex, &config) != 1)
            continue;
        lucky = turn == 1 || class_fails(ex, &ex->config[trial]);
        break;
    }
    ex->doubts += ex->runs - before;
    for (int t = first; lucky && t < ex->trials; t++)
        if (bit_of(ex->passes, t))
            set_lucky(ex, t);
    if (lucky)
        set_lucky(ex, trial);
    return lucky;
}

void doubt_forget(struct explainer *ex)
{
    for (int w = 0; w < ex->words; w++) {
        ex->passes[w] |= ex->lucky[w];
        ex->lucky[w] = 0;
    }
}
