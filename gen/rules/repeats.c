/* Repeats runs. A failure may not occur again, and a pass may be due to chance in the inputs. One such pass
 * inside a simple rule rejects it, and a more complicated rule takes its place. So the point is run again,
 * with other seeds and more sensitive inputs, before the pass counts against a rule. */
#include "rules_internal.h"

#include <stdio.h>

enum { REPEATS = 3, MORE_REPEATS = 8 };
static const double LEAST_REPEATED = 0.9;

struct repeats {
    int again, asked;
};

/* Repeats runs of failing trials, with their own seed or another, and counts the failures. Results with
 * another seed are kept in inquiry->again. */
static void repeat(struct inquiry *inquiry, int known, int times, bool other_seed, struct repeats *repeats)
{
    int trial = (int)pcg_below(inquiry->stream, (uint64_t)known);
    for (int i = 0; i < times && inquiry_may_run(inquiry); i++) {
        for (int step = 0; step < known && (step == 0 || !bit_of(inquiry->evidence.fails, trial)); step++)
            trial = (trial + 1) % known;
        struct config config = inquiry->evidence.config[trial];
        if (other_seed && !inquiry_reseed(inquiry, &config))
            continue; /* every other seed changes the derived sizes, which may be the cause of the failure */
        const int result = inquiry_run(inquiry, &config);
        repeats->asked += result >= 0;
        repeats->again += result == 1;
        if (other_seed && result >= 0 && inquiry->agains < MOST_AGAIN)
            inquiry->again[inquiry->agains++] = (struct explain_trial){config, result == 1};
    }
}

static bool holds_mostly(const struct repeats *repeats)
{
    return repeats->again >= LEAST_REPEATED * repeats->asked;
}

enum repeating failures_repeat(struct inquiry *inquiry, int known, struct rule *out)
{
    struct repeats same = {0}, other = {0};
    const int times = inquiry->most_runs >= 40 ? REPEATS : 1;
    repeat(inquiry, known, times, false, &same);
    repeat(inquiry, known, times, true, &other);
    if (same.again < same.asked)
        repeat(inquiry, known, MORE_REPEATS, false, &same);
    else if (other.again < other.asked)
        repeat(inquiry, known, MORE_REPEATS, true, &other);
    if (!holds_mostly(&same))
        snprintf(out->reason, sizeof out->reason,
                 "it does not repeat: run again, %d of %d failing "
                 "configurations failed",
                 same.again, same.asked);
    else if (!holds_mostly(&other))
        snprintf(out->reason, sizeof out->reason,
                 "it does not repeat with other inputs: %d of %d "
                 "failing configurations failed with another seed",
                 other.again, other.asked);
    if (holds_mostly(&same))
        return holds_mostly(&other) ? REPEATS_ALWAYS : REPEATS_SOMETIMES;
    return same.again > 0 ? REPEATS_SOMETIMES : REPEATS_NEVER;
}

/* --- steps beside the simplest failure --- */

enum { TRIES = 2 }; /* a single pass may be due to chance */

/* Returns the value less one; for a list or a choice, the previous value. */
static int64_t value_before(const struct inquiry *inquiry, const struct config *config, int axis)
{
    const struct domain *domain = &inquiry->vocabulary.space->domain[axis];
    int64_t before = config->value[axis] - 1;
    for (int i = 0; i < domain->value_count && domain->value[i] != config->value[axis]; i++)
        before = domain->value[i];
    return before;
}

/* Runs the configuration. The result is kept if it fails, or if it passes with two seeds. */
static void probe(struct inquiry *inquiry, struct config *config)
{
    for (int i = 0; i < TRIES && inquiry_may_run(inquiry); i++) {
        config->seed = draw_config_seed(inquiry->stream);
        const int result = inquiry_run(inquiry, config);
        if (result < 0)
            return;
        if (result == 1 || i + 1 == TRIES) {
            inquiry_learn(inquiry, config, result == 1);
            return;
        }
    }
}

void run_simpler_steps(struct inquiry *inquiry)
{
    const int from = simplest_failure(&inquiry->evidence);
    for (int i = 0; from >= 0 && inquiry->vocabulary.space->problem->axes[i].name; i++) {
        struct config config = inquiry->evidence.config[from];
        if (axis_is_least(inquiry->vocabulary.space, &config, i))
            continue;
        config.value[i] = value_before(inquiry, &config, i);
        if (candidate_fits(inquiry, NULL, &config))
            probe(inquiry, &config);
    }
}

/* --- passes by chance --- */

enum { ASKED_AGAIN = 3, DOUBT_SHARE = 5 };

/* Returns the input class of this rank in the contract (1: the most sensitive), or -1 if there is none. */
static int64_t sharp_class(const struct inquiry *inquiry, int rank)
{
    const struct problem *problem = inquiry->vocabulary.space->problem;
    const int input = problem_input_axis(problem);
    int64_t found = -1;
    if (input < 0)
        return -1;
    const struct domain *domain = &inquiry->vocabulary.space->domain[input];
    for (int i = 0; found < 0 && i < domain->value_count; i++)
        if (problem->classes[domain->value[i]].discriminating == rank)
            found = domain->value[i];
    return found;
}

/* Changes the inputs, by turns: the most sensitive class, the same class with another seed, the second most
 * sensitive. Returns false if the contract does not have them. */
static bool sharpen(struct inquiry *inquiry, int turn, struct config *config)
{
    const int input = problem_input_axis(inquiry->vocabulary.space->problem);
    const int64_t class = turn == 1 ? -1 : sharp_class(inquiry, turn == 0 ? 1 : 2);
    if (turn != 1 && (class < 0 || class == config->value[input]))
        return false;
    if (class >= 0)
        config->value[input] = class;
    return space_contains(inquiry->vocabulary.space, config, NULL) && inquiry_reseed(inquiry, config);
}

/* Returns whether some failure has the input class. A class without known failures hides the fault each time,
 * so its passes are not due to chance. */
static bool class_fails(const struct evidence *evidence, const struct config *config)
{
    const int input = problem_input_axis(config->problem);
    for (int t = 0; input >= 0 && t < evidence->trials; t++)
        if (bit_of(evidence->fails, t) && evidence->config[t].value[input] == config->value[input])
            return true;
    return input < 0;
}

static void set_lucky(struct evidence *evidence, int trial)
{
    bit_clear(evidence->passes, trial);
    bit_set(evidence->lucky, trial);
}

bool repeat_pass(struct inquiry *inquiry, int trial)
{
    struct evidence *const evidence = &inquiry->evidence;
    const int first = evidence->trials, before = inquiry->runs;
    bool lucky = false;
    if (inquiry->doubts >= inquiry->most_runs / DOUBT_SHARE)
        return false;
    for (int turn = 0; turn < ASKED_AGAIN && inquiry_may_run(inquiry); turn++) {
        struct config config = evidence->config[trial];
        if (!sharpen(inquiry, turn, &config) || inquiry_ask(inquiry, &config) != 1)
            continue;
        lucky = turn == 1 || class_fails(evidence, &evidence->config[trial]);
        break;
    }
    inquiry->doubts += inquiry->runs - before;
    for (int t = first; lucky && t < evidence->trials; t++)
        if (bit_of(evidence->passes, t))
            set_lucky(evidence, t);
    if (lucky)
        set_lucky(evidence, trial);
    return lucky;
}

void forget_lucky_passes(struct evidence *evidence)
{
    for (int w = 0; w < evidence->words; w++) {
        evidence->passes[w] |= evidence->lucky[w];
        evidence->lucky[w] = 0;
    }
}
