/* Explains all failures by one rule: a two-sided one or, if none stands, a one-sided one. */
#include "rules_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "gen/contract/instantiate.h"

enum {
    FRESH = 160, /* configurations drawn to begin with */
    RESEEDS = 64
};

/* Opens the set of points that are not run again, with the published ones. */
static int open_used(struct point_set *used, const struct config_list *seen, int capacity)
{
    if (point_set_open(used, (size_t)capacity + (size_t)(seen ? seen->count : 0)) != 0)
        return -1;
    for (int i = 0; seen && i < seen->count; i++)
        point_set_add(used, &seen->item[i]);
    return 0;
}

/* A stream of its own, so that the runs are the same where the code says nothing. */
static int learn_code(struct inquiry *inquiry, const struct clue_list *clues, uint64_t seed)
{
    char purpose[96];
    if (!clues || clues->count == 0)
        return 0;
    snprintf(purpose, sizeof purpose, "%s/code", inquiry->vocabulary.space->problem->name);
    struct pcg *const stream = pcg_new(seed, purpose);
    const int status = stream ? vocabulary_code(&inquiry->vocabulary, clues, stream) : -1;
    pcg_free(stream);
    return status;
}

/* Opens an inquiry of zeros. Returns 0, or -1 when memory is out. Call inquiry_close in either case. */
static int inquiry_open(struct inquiry *inquiry, const struct space *space, const struct draw_caps *caps,
                        const struct config_list *seen, const struct clue_list *clues, int known, int runs,
                        uint64_t seed)
{
    const int extra = runs * 3 / 4, sided = runs, capacity = known + runs + extra + sided + 1;
    char purpose[96];
    snprintf(purpose, sizeof purpose, "%s/explain", space->problem->name);
    inquiry->seen = seen;
    inquiry->costing = costing_of(space, caps);
    inquiry->stream = pcg_new(seed, purpose);
    inquiry->most_runs = runs;
    inquiry->extra_runs = extra;
    inquiry->sided_runs = sided;
    vocabulary_open(&inquiry->vocabulary, space, seen);
    if (!inquiry->stream || open_used(&inquiry->used, seen, capacity) || learn_code(inquiry, clues, seed))
        return -1;
    return evidence_open(&inquiry->evidence, &inquiry->vocabulary, capacity);
}

static void inquiry_close(struct inquiry *inquiry)
{
    pcg_free(inquiry->stream);
    config_list_clear(&inquiry->fresh);
    point_set_close(&inquiry->used);
    evidence_close(&inquiry->evidence);
    vocabulary_uncode(&inquiry->vocabulary);
}

static bool is_published(const struct inquiry *inquiry, const struct config *config)
{
    for (int i = 0; inquiry->seen && i < inquiry->seen->count; i++)
        if (config_same_point(&inquiry->seen->item[i], config))
            return true;
    return false;
}

static bool same_derived(const struct config *a, const struct config *b)
{
    const struct derived *derived = a->problem->derived;
    for (int i = 0; derived && derived[i].name; i++)
        if (config_derived(a, i) != config_derived(b, i))
            return false;
    return true;
}

bool inquiry_reseed(struct inquiry *inquiry, struct config *config)
{
    for (int i = 0; i < RESEEDS; i++) {
        struct config other = *config;
        other.seed = draw_config_seed(inquiry->stream);
        if (same_derived(config, &other)) {
            *config = other;
            return true;
        }
    }
    return false;
}

void inquiry_learn(struct inquiry *inquiry, const struct config *config, bool fails)
{
    evidence_add(&inquiry->evidence, config, fails, is_published(inquiry, config));
    point_set_add(&inquiry->used, config);
}

int inquiry_run(struct inquiry *inquiry, const struct config *config)
{
    const int result = inquiry->run(inquiry->data, config);
    inquiry->stopped = inquiry->stopped || result == -2;
    inquiry->runs += result != -2;
    if (result != 0 && result != 1)
        point_set_add(&inquiry->used, config);
    return result < 0 ? -1 : result;
}

int inquiry_ask(struct inquiry *inquiry, const struct config *config)
{
    const int result = inquiry_run(inquiry, config);
    if (result >= 0)
        inquiry_learn(inquiry, config, result == 1);
    return result;
}

bool inquiry_may_run(const struct inquiry *inquiry)
{
    return !inquiry->stopped && inquiry->runs < inquiry->most_runs &&
           inquiry->evidence.trials < inquiry->evidence.capacity;
}

/* Explains the failures among the `known` trials that were learned. */
static int explain_known(struct inquiry *inquiry, int known, struct rule *out)
{
    const enum repeating repeating = failures_repeat(inquiry, known, out);
    const bool always = repeating == REPEATS_ALWAYS;
    if (repeating == REPEATS_NEVER)
        return 0;
    if (candidates_fill(inquiry, FRESH))
        return -1;
    if (always) {
        run_simpler_steps(inquiry);
        if (explain_two_sided(inquiry, out))
            return -1;
    }
    if (out->present)
        return 0;
    /* A one-sided rule may cover configurations that fail with some inputs only, so all passes count. */
    forget_lucky_passes(&inquiry->evidence);
    return explain_one_sided(inquiry, out);
}

int explain(const struct space *space, const struct draw_caps *caps, const struct config_list *seen,
            const struct clue_list *clues, const struct explain_trial *known, int count, int runs,
            uint64_t seed, explain_run run, void *data, struct rule *out)
{
    struct inquiry *inquiry = calloc(1, sizeof *inquiry);
    int result = inquiry ? inquiry_open(inquiry, space, caps, seen, clues, count, runs, seed) : -1, fails = 0;
    *out = (struct rule){.present = false};
    for (int i = 0; result == 0 && i < count; i++) {
        inquiry_learn(inquiry, &known[i].config, known[i].fails);
        fails += known[i].fails;
    }
    if (result == 0 && fails == 0) {
        snprintf(out->reason, sizeof out->reason, "nothing failed");
    } else if (result == 0) {
        inquiry->run = run;
        inquiry->data = data;
        result = explain_known(inquiry, count, out);
        out->runs = inquiry->runs;
    }
    if (inquiry)
        inquiry_close(inquiry);
    free(inquiry);
    return result;
}
