#include "clue_aims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clue_names.h"
#include "move.h"

/* WANTED: in a single configuration, other values may hide what a condition would show. LEAST: so many are
 * drawn with the sharpest input classes even if the blind part meets a condition. */
enum {
    WANTED = 8,
    LEAST = 2,
    WANTED_EDGE = 2,
    WANTED_GUESS = 1,
    MOST_BINDINGS = 32,
    MOST_POOL = 64,
    MOST_JOINED = 192
};

/* Conditions before their boundaries before tiles; the candidate's own file before those that it includes. */
enum { RANK_CONDITION, RANK_EDGE, RANK_TILE, RANK_INCLUDED };

struct building {
    struct clue_aims *aims;
    const struct space *space;
    struct pcg *stream;
    enum clue_aim_kind kind;              /* of the next aims */
    char pool[MOST_POOL][CLUE_TEXT_SIZE]; /* texts that an unknown name may stand for */
    int pooled, singles;                  /* singles: those that are no products; they come first */
};

/* --- one aim --- */

static bool is_listed(const struct clue_aims *aims, const struct clue *clue)
{
    for (int i = 0; i < aims->count; i++)
        if (clue_same(&aims->item[i].clue, clue))
            return true;
    return false;
}

static void add_aim(struct building *b, const struct clue *clue, int rank, int wanted)
{
    struct clue_aim *const to = &b->aims->item[b->aims->count];
    if (b->aims->count == (b->kind == AIM_JOINED ? CLUE_MOST_AIMS : CLUE_MOST_AIMS - MOST_JOINED) ||
        is_listed(b->aims, clue) || !aim_open(&to->aim, b->space->problem, clue))
        return;
    to->clue = *clue;
    to->rank = rank + (*clue->file ? RANK_INCLUDED : 0);
    to->number = b->aims->count;
    to->kind = b->kind == AIM_GUESSED && *clue->file ? AIM_INCLUDED : b->kind;
    to->wanted = b->kind == AIM_KNOWN ? wanted : WANTED_GUESS;
    to->least = rank == RANK_CONDITION && b->kind == AIM_KNOWN && !*clue->file ? LEAST : 0;
    b->aims->count++;
}

/* An operand of a product: in parentheses unless it is a name or a number. */
static const char *operand(const char *text, char *buffer, size_t size)
{
    if (!strpbrk(text, " +-*/%("))
        return text;
    snprintf(buffer, size, "(%s)", text);
    return buffer;
}

/* Adds the clue with another comparison in the place of one term. `subject` and `bound` may have "S" and "B"
 * as their only letters: the term's own. */
static void add_changed(struct building *b, const struct clue *clue, int at, const char *subject,
                        enum clue_relation relation, const char *bound, int rank)
{
    struct clue changed = *clue;
    const char *const form[2] = {subject, bound};
    char *const text[2] = {changed.term[at].subject, changed.term[at].bound};
    char side[2][CLUE_TEXT_SIZE + 2];
    const char *const own[2] = {operand(clue->term[at].subject, side[0], sizeof side[0]),
                                operand(clue->term[at].bound, side[1], sizeof side[1])};
    for (int i = 0; i < 2; i++) {
        size_t used = 0;
        for (const char *c = form[i]; *c && used < CLUE_TEXT_SIZE; c++)
            used += (size_t)snprintf(text[i] + used, CLUE_TEXT_SIZE - used, "%.*s",
                                     *c == 'S' || *c == 'B' ? CLUE_TEXT_SIZE : 1,
                                     *c == 'S'   ? own[0]
                                     : *c == 'B' ? own[1]
                                                 : c);
        if (used >= CLUE_TEXT_SIZE)
            return;
    }
    changed.term[at].relation = relation;
    add_aim(b, &changed, rank, WANTED_EDGE);
}

/* --- the aims of one clue --- */

/* On, below and above the boundary, and far beyond. */
static void add_edges(struct building *b, const struct clue *clue, int at)
{
    switch (clue->term[at].relation) {
    case CLUE_NOT_EQUAL: add_changed(b, clue, at, "S", CLUE_EQUAL, "B", RANK_EDGE); break;
    case CLUE_EQUAL: add_changed(b, clue, at, "S", CLUE_NOT_EQUAL, "B", RANK_EDGE); break;
    default:
        add_changed(b, clue, at, "S", CLUE_EQUAL, "B", RANK_EDGE);
        add_changed(b, clue, at, "S", CLUE_EQUAL, "B + 1", RANK_EDGE);
        add_changed(b, clue, at, "S", CLUE_EQUAL, "B - 1", RANK_EDGE);
        add_changed(b, clue, at, "S", CLUE_GREATER, "B", RANK_EDGE);
        add_changed(b, clue, at, "S", CLUE_LESS, "B", RANK_EDGE);
    }
}

static void add_tiles(struct building *b, const struct clue *clue)
{
    add_changed(b, clue, 0, "S % B", CLUE_EQUAL, "1", RANK_TILE);
    add_changed(b, clue, 0, "S % B", CLUE_EQUAL, "B - 1", RANK_TILE);
    add_changed(b, clue, 0, "S", CLUE_EQUAL, "B", RANK_TILE);
    add_changed(b, clue, 0, "S", CLUE_EQUAL, "B + 1", RANK_TILE);
    add_changed(b, clue, 0, "S % B", CLUE_EQUAL, "B / 2", RANK_TILE);
    add_changed(b, clue, 0, "S", CLUE_EQUAL, "2 * B", RANK_TILE);
}

static void add_aims(struct building *b, const struct clue *clue)
{
    if (clue->terms == 1 && clue->term[0].relation == CLUE_TILE) {
        add_tiles(b, clue);
        return;
    }
    add_aim(b, clue, RANK_CONDITION, WANTED);
    for (int i = 0; i < clue->terms; i++)
        add_edges(b, clue, i);
}

/* --- names that stand for no axis --- */

static void pool_text(struct building *b, const char *first, const char *second)
{
    if (b->pooled < MOST_POOL)
        snprintf(b->pool[b->pooled++], CLUE_TEXT_SIZE, second ? "%s * %s" : "%s", first, second);
}

static bool is_range(const struct space *space, int axis)
{
    return domain_is_number(space, axis) && space->domain[axis].value_count == 0;
}

static void fill_pool(struct building *b)
{
    const struct problem *const problem = b->space->problem;
    for (int i = 0; problem->axes[i].name; i++)
        if (domain_is_number(b->space, i))
            pool_text(b, problem->axes[i].name, NULL);
    for (int i = 0; problem->derived && problem->derived[i].name; i++)
        pool_text(b, problem->derived[i].name, NULL);
    pool_text(b, "2", NULL); /* counters and divisors that a loop tries */
    pool_text(b, "3", NULL);
    b->singles = b->pooled;
    for (int i = 0; problem->axes[i].name; i++)
        for (int j = 0; j < i; j++)
            if (is_range(b->space, i) && is_range(b->space, j))
                pool_text(b, problem->axes[j].name, problem->axes[i].name);
}

/* Chooses what each unknown name stands for: different texts. One name takes all in turn, and two take all
 * pairs of axes and sizes, as far as the turns suffice. */
static bool choose(struct building *b, const struct unknown_names *unknown, int turn, int offset,
                   const char **text)
{
    const int singles = b->singles;
    int taken[CLUE_MOST_UNKNOWN];
    if (unknown->count == 1) {
        const int at = turn < singles ? (turn + offset) % singles : turn;
        text[0] = b->pool[at < b->pooled ? at : 0];
        return at < b->pooled;
    }
    if (unknown->count > singles)
        return false;
    taken[0] = (turn + offset) % singles;
    taken[1] = (taken[0] + 1 + turn / singles) % singles;
    taken[2] = (int)pcg_below(b->stream, (uint64_t)singles);
    for (int i = 0; i < unknown->count; i++)
        text[i] = b->pool[taken[i]];
    return taken[0] != taken[1] && (unknown->count < 3 || (taken[2] != taken[0] && taken[2] != taken[1]));
}

/* Adds the clue's aims for one choice of its unknown names. */
static void add_bound(struct building *b, const struct clue *clue, const struct unknown_names *unknown,
                      int turn, int offset)
{
    const char *text[CLUE_MOST_UNKNOWN];
    struct clue bound = *clue;
    if (choose(b, unknown, turn, offset, text) && clue_bind(&bound, unknown, text))
        add_aims(b, &bound);
}

/* --- two at once --- */

/* Lists the aims of the candidate's own file; `conditions`: only its known conditions. */
static int list_own(const struct clue_aims *aims, bool conditions, int *list)
{
    int count = 0;
    for (int i = 0; i < aims->count; i++)
        if (aims->item[i].rank < RANK_INCLUDED &&
            (!conditions || (aims->item[i].kind == AIM_KNOWN && aims->item[i].rank == RANK_CONDITION)))
            list[count++] = i;
    return count;
}

/* Adds random pairs of aims of the candidate's own file, from different lines: a fault may need two
 * conditions that stand apart. The first is a known condition. */
static void add_joined(struct building *b)
{
    int first[CLUE_MOST_AIMS], second[CLUE_MOST_AIMS];
    const int firsts = list_own(b->aims, true, first), seconds = list_own(b->aims, false, second);
    const int most = b->aims->count + MOST_JOINED;
    b->kind = AIM_JOINED;
    for (int i = 0; i < 4 * MOST_JOINED && firsts > 0 && b->aims->count < most; i++) {
        const struct clue *const one = &b->aims->item[first[pcg_below(b->stream, (uint64_t)firsts)]].clue,
                                 *const other =
                                     &b->aims->item[second[pcg_below(b->stream, (uint64_t)seconds)]].clue;
        struct clue both = *one;
        if (one->line == other->line || one->terms + other->terms > CLUE_MOST_TERMS)
            continue;
        for (int t = 0; t < other->terms; t++)
            both.term[both.terms++] = other->term[t];
        add_aim(b, &both, RANK_CONDITION, 1);
    }
}

/* --- all clues --- */

static int compare_ranks(const void *a, const void *b)
{
    const struct clue_aim *const x = a, *const y = b;
    if (x->kind != y->kind || x->rank != y->rank)
        return x->kind != y->kind ? (int)x->kind - (int)y->kind : x->rank - y->rank;
    if (x->clue.terms != y->clue.terms || x->clue.line != y->clue.line)
        return x->clue.terms != y->clue.terms ? y->clue.terms - x->clue.terms : x->clue.line - y->clue.line;
    return x->number - y->number; /* the order must not depend on the library's qsort */
}

/* Known names first, then one choice of the unknown ones for each clue, then the next choice. */
static void add_all(struct building *b, struct clue *resolved, struct unknown_names *unknown, int count)
{
    for (int i = 0; i < count; i++)
        if (unknown[i].count == 0 && !unknown[i].more)
            add_aims(b, &resolved[i]);
    b->kind = AIM_GUESSED;
    const int offset = (int)pcg_below(b->stream, (uint64_t)b->singles);
    for (int turn = 0; turn < MOST_BINDINGS; turn++)
        for (int i = 0; i < count; i++)
            if (unknown[i].count > 0 && !unknown[i].more)
                add_bound(b, &resolved[i], &unknown[i], turn, offset);
}

int clue_aims_open(struct clue_aims *aims, const struct clue_list *clues, const struct space *space,
                   struct pcg *stream)
{
    const size_t count = (size_t)clues->count + 1;
    struct building *const b = calloc(1, sizeof *b);
    struct clue *const resolved = calloc(count, sizeof *resolved);
    struct unknown_names *const unknown = calloc(count, sizeof *unknown);
    struct argument_texts arguments;
    *aims = (struct clue_aims){.item = calloc(CLUE_MOST_AIMS + 1, sizeof *aims->item)};
    const bool made = b && resolved && unknown && aims->item;
    if (made) {
        *b = (struct building){.aims = aims, .space = space, .stream = stream};
        fill_pool(b);
        argument_texts_find(&arguments, space, stream);
        for (int i = 0; i < clues->count; i++) {
            resolved[i] = clues->item[i];
            clue_resolve(&resolved[i], &arguments, &unknown[i]);
        }
        add_all(b, resolved, unknown, clues->count);
        add_joined(b);
        qsort(aims->item, (size_t)aims->count, sizeof *aims->item, compare_ranks);
    }
    free(b);
    free(resolved);
    free(unknown);
    return made ? 0 : -1;
}

void clue_aims_close(struct clue_aims *aims)
{
    for (int i = 0; i < aims->count; i++)
        aim_close(&aims->item[i].aim);
    free(aims->item);
    *aims = (struct clue_aims){0};
}
