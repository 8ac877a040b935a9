#include "steering.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/draw/aim.h"
#include "observed.h"

/* EXPLORED: calls after a branch is found, so that comparisons behind it can be followed. BASES:
 * configurations from which an aim is tried. AGAIN_EACH: configurations that take a found branch again;
 * DRAWN_EACH: more that meet its condition. */
enum {
    ROUNDS = 8,
    EXPLORED = 8,
    BASES = 12,
    MOST_CALLS = 3,
    AGAIN_EACH = 3,
    DRAWN_EACH = 2,
    MOST_PAIRS = 64,
    MOST_WISHES = 512
};

/* One call may take this part of the limit: one for a condition, and one that explores. */
#define DEAREST 0.2
#define DEAREST_EXPLORING 0.02

/* A condition that some comparison never had. */
struct wish {
    struct clue clue;
    int comparison;
    bool stored; /* it decides no jump */
};

struct steering {
    struct covering_calls *calls;
    struct observed observed;
    struct pcg *stream;
    struct clue_list tried, found;
    struct wish *wish; /* of this round */
    int wishes;
    int most, made; /* configurations added */
    double limit;   /* of covering_calls.work */
    bool no_memory;
};

struct steering *steering_open(struct covering_calls *calls, int most)
{
    struct steering *const s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->calls = calls;
    s->most = most;
    s->stream = pcg_new(calls->task->seed, "branches");
    s->wish = calloc(MOST_WISHES, sizeof *s->wish);
    if (observed_open(&s->observed, &calls->coverage->branches, &calls->task->space) && s->stream && s->wish)
        return s;
    steering_close(s);
    return NULL;
}

void steering_close(struct steering *s)
{
    if (!s)
        return;
    observed_close(&s->observed);
    clue_list_clear(&s->tried);
    clue_list_clear(&s->found);
    pcg_free(s->stream);
    free(s->wish);
    free(s);
}

void steering_observe(struct steering *s, const struct tracing *tracing, const struct config *config,
                      const struct clue *clue)
{
    if (s->most > 0 && observed_add(&s->observed, tracing, config, clue) < 0)
        s->no_memory = true;
}

/* --- wishes --- */

static bool is_open(const struct steering *s, const struct observed_comparison *c)
{
    const struct branch *const branch = s->calls->coverage->branches.branch;
    return c->base >= 0 && (c->branch[0] < 0 || !branch[c->branch[0]].taken || !branch[c->branch[1]].taken);
}

/* Adds the condition to those of the run that reached the comparison first. Conditions that were tried
 * are left out. */
static void add_wish(struct steering *s, int comparison, const struct clue_term *term)
{
    const struct observed_comparison *const c = &s->observed.comparison[comparison];
    const struct traced_comparison *const at = &s->observed.branches->comparison[comparison];
    struct wish wish = {
        .clue = s->observed.run[c->base].clue, .comparison = comparison, .stored = c->branch[0] < 0};
    if (wish.clue.terms == CLUE_MOST_TERMS || s->wishes == MOST_WISHES)
        return;
    wish.clue.term[wish.clue.terms++] = *term;
    wish.clue.line = at->line;
    snprintf(wish.clue.file, sizeof wish.clue.file, "%s",
             at->file > 0 ? s->observed.branches->text[at->file].name : "");
    const int before = s->tried.count;
    if (clue_list_add(&s->tried, &wish.clue) != 0)
        s->no_memory = true;
    else if (s->tried.count > before)
        s->wish[s->wishes++] = wish;
}

/* The two operands are `most` or least ones of a call, whichever come closer to the relation that is
 * missing. */
static void add_relation(struct steering *s, int comparison, int side, enum clue_relation relation, bool most)
{
    const struct observed_comparison *const c = &s->observed.comparison[comparison];
    char left[FOLLOWED_MOST][CLUE_TEXT_SIZE], right[FOLLOWED_MOST][CLUE_TEXT_SIZE];
    bool left_number, right_number;
    const int lefts = observed_follow(&s->observed, c, side, most, left, &left_number);
    const int rights = observed_follow(&s->observed, c, 1 - side, !most, right, &right_number);
    for (int i = 0; i < lefts; i++)
        for (int k = 0; k < rights && !(left_number && right_number); k++) {
            struct clue_term term = {.relation = relation};
            memcpy(term.subject, left[i], sizeof term.subject);
            memcpy(term.bound, right[k], sizeof term.bound);
            add_wish(s, comparison, &term);
        }
}

/* A number of the text is the first operand, and reads better as the second. Equality is of interest for
 * a stored result even if it occurred, since it may matter together with another one. */
static void add_wishes(struct steering *s, int comparison)
{
    static const struct {
        int bit[2]; /* by side */
        enum clue_relation relation;
    } known[] = {{{COVERAGE_EQUAL, COVERAGE_EQUAL}, CLUE_EQUAL},
                 {{COVERAGE_LESS, COVERAGE_GREATER}, CLUE_LESS},
                 {{COVERAGE_GREATER, COVERAGE_LESS}, CLUE_GREATER}};
    const struct observed_comparison *const c = &s->observed.comparison[comparison];
    const int side = s->observed.branches->comparison[comparison].with_number ? 1 : 0;
    const bool above = (c->relations & known[1].bit[side]) == 0; /* never less */
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!(c->relations & known[i].bit[side]) || (c->branch[0] < 0 && known[i].relation == CLUE_EQUAL))
            add_relation(s, comparison, side, known[i].relation, !above);
}

/* Two results that are stored may be joined later: `narrow & wide`. */
static void add_pairs(struct steering *s)
{
    const int singles = s->wishes;
    int pairs = 0;
    for (int i = 0; i < singles; i++)
        for (int k = 0; k < i && pairs < MOST_PAIRS && s->wishes < MOST_WISHES; k++) {
            struct wish both = s->wish[k];
            const struct clue *const other = &s->wish[i].clue;
            if (!both.stored || !s->wish[i].stored || both.clue.terms != 1 || other->terms != 1 ||
                both.clue.line == 0)
                continue;
            both.clue.term[both.clue.terms++] = other->term[0];
            both.clue.line = other->line;
            s->wish[s->wishes++] = both;
            pairs++;
        }
}

/* --- calls --- */

static bool may_call(const struct steering *s, const struct config *config, double share)
{
    const double work = call_work(s->calls, config), left = s->limit - s->calls->work;
    return !s->calls->stopped && !s->no_memory && work <= left && work <= share * s->limit;
}

/* Moves the configuration of a run until the condition holds. */
static bool reach(struct steering *s, const struct aim *aim, int run, double share, struct config *config)
{
    *config = s->observed.run[run].config;
    if (!aim_reach(aim, &s->calls->task->space, config, s->stream))
        return false;
    config->seed = pcg_below(s->stream, (uint64_t)1 << 31);
    return may_call(s, config, share);
}

static bool is_new(const struct steering *s, const struct config *config)
{
    const struct task *const task = s->calls->task;
    for (int i = 0; i < task->seen.count; i++)
        if (config_same_point(&task->seen.item[i], config))
            return false;
    for (int i = 0; i < task->unseen_set.count; i++)
        if (config_same_point(&task->unseen_set.item[i].config, config))
            return false;
    return true;
}

static void accept(struct steering *s, const struct config *config, const struct clue *clue)
{
    struct drawn drawn = {.config = *config, .directed = true};
    char text[CLUE_MOST_TERMS * (2 * CLUE_TEXT_SIZE + 8)];
    if (s->made >= s->most || !is_new(s, config))
        return;
    clue_format(clue, text, sizeof text);
    snprintf(drawn.why, sizeof drawn.why, "reached %.16s%sline %d: %.48s", clue->file, *clue->file ? " " : "",
             clue->line, text);
    s->no_memory = s->no_memory || drawn_list_add(&s->calls->task->unseen_set, &drawn) != 0;
    s->made++;
}

/* Makes one axis, which may be the input class, that of another run. False: nothing changes, the contract
 * forbids it, or it costs too much. */
static bool vary(struct steering *s, const struct config *base, struct config *config)
{
    const struct problem *const problem = s->calls->task->problem;
    uint64_t axes = 0;
    while (problem->axes[axes].name)
        axes++;
    const uint64_t axis = pcg_below(s->stream, axes);
    const uint64_t other = pcg_below(s->stream, (uint64_t)s->observed.runs);
    *config = *base;
    config->value[axis] = s->observed.run[other].config.value[axis];
    config->seed = pcg_below(s->stream, (uint64_t)1 << 31);
    return config->value[axis] != base->value[axis] && space_contains(&s->calls->task->space, config, NULL) &&
           may_call(s, config, DEAREST_EXPLORING);
}

/* After a call took a new branch: calls where the same condition holds beside other values, so that
 * comparisons behind the branch can be followed. Some that take the branch again join the set. */
static void explore(struct steering *s, const struct aim *aim, const struct config *found,
                    const struct clue *clue)
{
    const int branch = s->calls->newest, most = s->made + AGAIN_EACH;
    struct config config;
    for (int i = 0; i < EXPLORED; i++) {
        const int run = (int)pcg_below(s->stream, (uint64_t)s->observed.runs);
        if (!(i % 2 == 0 ? vary(s, found, &config) : reach(s, aim, run, DEAREST_EXPLORING, &config)) ||
            covering_call(s->calls, &config) < 0)
            continue;
        if (s->made < most && covering_took(s->calls, branch))
            accept(s, &config, clue);
        steering_observe(s, &s->calls->tracing, &config, aim_holds(aim, &config) ? clue : NULL);
    }
}

/* A comparison that few calls reached: the same call with other values of one size shows what it follows. */
static void explore_around(struct steering *s, const struct observed_comparison *c)
{
    const struct observed_run base = s->observed.run[c->base];
    struct config config;
    for (int i = 0; i < 2 * EXPLORED && c->samples < EXPLORED; i++)
        if (vary(s, &base.config, &config) && covering_call(s->calls, &config) >= 0)
            steering_observe(s, &s->calls->tracing, &config, base.clue.terms > 0 ? &base.clue : NULL);
}

/* The run from which a condition is tried: the first that reached the comparison, another such, any other. */
static int base_of(struct steering *s, const struct wish *wish, int attempt)
{
    const struct observed_comparison *const c = &s->observed.comparison[wish->comparison];
    if (attempt == 0)
        return c->base;
    return attempt == 1 ? c->sample[pcg_below(s->stream, (uint64_t)c->samples)].run
                        : (int)pcg_below(s->stream, (uint64_t)s->observed.runs);
}

/* Returns whether the condition took something new. */
static bool try_wish(struct steering *s, const struct wish *wish)
{
    struct aim aim;
    struct config config;
    bool progress = false;
    int calls = 0;
    if (!aim_open(&aim, s->calls->task->problem, &wish->clue))
        return false;
    for (int i = 0; i < BASES && calls < MOST_CALLS && !progress && !s->no_memory; i++) {
        if (!reach(s, &aim, base_of(s, wish, i), DEAREST, &config))
            continue;
        calls++;
        const int taken = covering_call(s->calls, &config);
        const int relations =
            taken < 0 ? -1 : observed_add(&s->observed, &s->calls->tracing, &config, &wish->clue);
        progress = taken > 0 || relations > 0;
        if (taken > 0) {
            accept(s, &config, &wish->clue);
            s->no_memory = s->no_memory || clue_list_add(&s->found, &wish->clue) != 0;
            explore(s, &aim, &config, &wish->clue);
        }
    }
    aim_close(&aim);
    return progress;
}

/* More configurations on which a condition holds that took a branch, drawn like those of conditions in
 * the text: with other sizes and input classes, and at the boundary. Rules may name the condition, too. */
static int draw_more(struct steering *s)
{
    struct task *const task = s->calls->task;
    const int left = s->most - s->made, wanted = DRAWN_EACH * s->found.count;
    int status = draw_directed(&task->unseen_set, &s->found, &task->space, &task->seen,
                               wanted < left ? wanted : left, task->seed + 1, &task->caps);
    for (int i = 0; i < s->found.count && status == 0; i++)
        status = clue_list_add(&task->clues, &s->found.item[i]);
    return status;
}

int steering_run(struct steering *s, double limit)
{
    struct task *const task = s->calls->task;
    const int before = task->unseen_set.count;
    bool progress = true;
    s->limit = limit;
    for (int round = 0; round < ROUNDS && progress && !s->calls->stopped && s->made < s->most; round++) {
        progress = false;
        s->wishes = 0;
        for (int i = 0; i < s->observed.branches->comparisons; i++)
            if (is_open(s, &s->observed.comparison[i])) {
                if (s->observed.comparison[i].samples < EXPLORED && s->observed.axes > 0)
                    explore_around(s, &s->observed.comparison[i]);
                add_wishes(s, i);
            }
        add_pairs(s);
        for (int i = 0; i < s->wishes && s->made < s->most; i++)
            progress = try_wish(s, &s->wish[i]) || progress;
    }
    const int status = s->no_memory ? -1 : draw_more(s);
    s->calls->coverage->steered = task->unseen_set.count - before;
    if (status != 0 || s->calls->coverage->steered == 0)
        return status;
    return drawn_commitment(&task->unseen_set, true, task->directed_commitment);
}
