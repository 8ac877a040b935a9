#include "source_terms.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_EXPANDED_NODES = 256 };
static const int depths[] = {8, 2, 1, 0};
static const char digits[] = "0123456789";
enum { DEPTHS = sizeof depths / sizeof *depths };

static enum clue_relation opposite(enum clue_relation relation)
{
    static const enum clue_relation of[] = {
        [CLUE_LESS] = CLUE_GREATER_EQUAL, [CLUE_LESS_EQUAL] = CLUE_GREATER, [CLUE_EQUAL] = CLUE_NOT_EQUAL,
        [CLUE_NOT_EQUAL] = CLUE_EQUAL,    [CLUE_GREATER_EQUAL] = CLUE_LESS, [CLUE_GREATER] = CLUE_LESS_EQUAL,
        [CLUE_TILE] = CLUE_TILE};
    return of[relation];
}

/* a < b is b > a. */
static enum clue_relation mirrored(enum clue_relation relation)
{
    static const enum clue_relation of[] = {[CLUE_LESS] = CLUE_GREATER,
                                            [CLUE_LESS_EQUAL] = CLUE_GREATER_EQUAL,
                                            [CLUE_EQUAL] = CLUE_EQUAL,
                                            [CLUE_NOT_EQUAL] = CLUE_NOT_EQUAL,
                                            [CLUE_GREATER_EQUAL] = CLUE_LESS_EQUAL,
                                            [CLUE_GREATER] = CLUE_LESS,
                                            [CLUE_TILE] = CLUE_TILE};
    return of[relation];
}

/* Copies with values in the place of names need room in the pool; it is released afterwards. */
static bool expanded_text(struct reader *reader, int node, int depth, char *text, size_t size)
{
    struct tree *const tree = &reader->tree;
    const int mark = tree->count, limit = tree->limit;
    const bool full = tree->full;
    tree->full = false;
    if (mark + MOST_EXPANDED_NODES < limit)
        tree->limit = mark + MOST_EXPANDED_NODES;
    const int all = expansion_of_all(reader, node, depth);
    const bool fits = (!tree->full || depth == 0) && tree_text(tree, &reader->source, all, text, size);
    tree->count = mark;
    tree->limit = limit;
    tree->full = full;
    return fits;
}

bool term_text(struct reader *reader, int node, char *text, size_t size)
{
    for (int i = 0; i < DEPTHS; i++)
        if (expanded_text(reader, node, depths[i], text, size))
            return true;
    return false;
}

static bool is_counter(const struct reader *reader, int node)
{
    const struct node *const at = &reader->tree.node[node];
    return at->kind == NODE_NAME &&
           (at->value == reader->counter ||
            definition_is_counter(&reader->definitions, reader_definition(reader, node)));
}

static bool has_counter(const struct reader *reader, int node)
{
    const struct node *const at = &reader->tree.node[node];
    return is_counter(reader, node) || (at->left >= 0 && has_counter(reader, at->left)) ||
           (at->right >= 0 && has_counter(reader, at->right));
}

static bool is_number_text(const char *text)
{
    return text[strspn(text, "-0123456789")] == '\0';
}

/* "?" against 0 or 1, or without any number, tells nothing; nor does a constant. */
static bool is_telling(const struct clue_term *term)
{
    const bool opaque = strchr(term->subject, '?') || strchr(term->bound, '?');
    if (is_number_text(term->subject) || strcmp(term->subject, term->bound) == 0)
        return false;
    if (strcmp(term->subject, "?") == 0 &&
        (strcmp(term->bound, "0") == 0 || strcmp(term->bound, "1") == 0 || strcmp(term->bound, "-1") == 0))
        return false;
    return !opaque || strpbrk(term->subject, digits) || strpbrk(term->bound, digits);
}

static enum term_kind counter_term(int64_t value, struct clue_term *term)
{
    if (value < 2 || value >= (int64_t)1 << 40)
        return TERM_NONE;
    *term = (struct clue_term){.subject = "?", .relation = CLUE_TILE};
    snprintf(term->bound, sizeof term->bound, "%" PRId64, value);
    return TERM_TILE;
}

enum term_kind term_of(struct reader *reader, int node, bool negated, struct clue_term *term)
{
    const struct tree *const tree = &reader->tree;
    const bool compared = tree->node[node].kind == NODE_COMPARE;
    int left = compared ? tree->node[node].left : node, right = compared ? tree->node[node].right : -1;
    int64_t value;
    enum clue_relation relation = compared ? tree->node[node].relation : CLUE_NOT_EQUAL;
    if (negated)
        relation = opposite(relation);
    if (compared && tree_is_number(tree, left, &value)) {
        const int side = left;
        left = right;
        right = side;
        relation = mirrored(relation);
    }
    if (tree->node[left].fraction || (compared && tree->node[right].fraction))
        return TERM_NONE;
    if (compared && is_counter(reader, left) && tree_is_number(tree, right, &value))
        return counter_term(value, term);
    const bool counted = compared && !tree->node[left].number && !tree->node[right].number &&
                         (has_counter(reader, left) || has_counter(reader, right));
    if (counted && (is_counter(reader, left) || is_counter(reader, right)))
        return TERM_NONE;
    *term = (struct clue_term){.relation = relation, .bound = "0"};
    if (!term_text(reader, left, term->subject, sizeof term->subject) ||
        (compared && !term_text(reader, right, term->bound, sizeof term->bound)))
        return TERM_NONE;
    if (counted && !strpbrk(term->subject, digits) && !strpbrk(term->bound, digits))
        return TERM_NONE;
    return is_telling(term) ? TERM_COMPARED : TERM_NONE;
}
