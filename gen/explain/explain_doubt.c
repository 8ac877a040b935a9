/* Passes that may be luck of the content. One pass inside a simple rule drops it, and a rule that steps around that pass takes its place:
 * so the point is asked again, with other seeds and with sharper inputs, before it counts against anything. */
#include "explain_internal.h"

enum { ASKED_AGAIN = 3, MOST_RIVALS = 6, DOUBT_SHARE = 5 };

static int doubts_allowed(const struct explainer *ex)
{
    return ex->most_runs / DOUBT_SHARE;
}

/* The input class of that rank among those of the contract: 1 is the sharpest. -1: there is none. */
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

/* By turns the sharpest input class, its own with another seed, the next sharpest. False: there is no such content. */
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

/* A class with which nothing is known to fail hides the fault each time: that is no luck. */
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
    if (bit_of(ex->firm, trial) || !bit_of(ex->passes, trial) || ex->doubts >= doubts_allowed(ex))
        return false;
    for (int turn = 0; turn < ASKED_AGAIN && !lucky && explainer_may_run(ex); turn++) {
        struct config config = ex->config[trial];
        if (!sharpen(ex, turn, &config) || explainer_ask(ex, &config) != 1)
            continue;
        lucky = turn == 1 || class_fails(ex, &ex->config[trial]);
        break;
    }
    ex->doubts += ex->runs - before;
    for (int t = first; t <= ex->trials; t++) {
        const int asked = t < ex->trials ? t : trial;
        if (lucky && bit_of(ex->passes, asked))
            set_lucky(ex, asked);
        else if (!lucky)
            bit_set(ex->firm, asked);
    }
    ex->luckies += lucky;
    return lucky;
}

void doubt_forget(struct explainer *ex)
{
    for (int w = 0; w < ex->words; w++) {
        ex->passes[w] |= ex->lucky[w];
        ex->lucky[w] = 0;
    }
}

bool doubts_are_over(const struct explainer *ex)
{
    return ex->doubts >= doubts_allowed(ex);
}

/* Does it step around passes that all were luck? Those of the simplest such rules are asked again. */
int doubt_rivals(struct explainer *ex, const struct guess *leader, bool *changed)
{
    static struct guesses rivals; /* too large for a stack */
    *changed = false;
    if (doubts_are_over(ex))
        return 0;
    if (search_rivals(ex, leader, false, &rivals))
        return -1;
    for (int i = 0; i < rivals.count && i < MOST_RIVALS; i++) {
        const int trials = ex->trials;
        bool stands = true;
        for (int t = 0; t < trials && stands; t++)
            if (bit_of(ex->passes, t) && guess_holds(ex, &rivals.item[i], trial_values(ex, t)))
                stands = doubt_pass(ex, t);
        *changed = *changed || ex->trials > trials;
        if (stands || doubts_are_over(ex))
            break;
    }
    return 0;
}
