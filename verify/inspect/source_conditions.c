/* Conditions as clues: one for each alternative of ||, with the terms that && joins. */
#include <stdio.h>
#include <string.h>

#include "source_enclosing.h"
#include "source_terms.h"

enum { MOST_PENDING = 16, MOST_STATES = 24, MOST_EXPANSIONS = 8 };

/* A part of a condition that is to hold, or not to. */
struct part {
    int node;
    bool negated;
    int expansions; /* names that were replaced on the way to it */
};
/* An alternative that is being found. */
struct alternative {
    struct part pending[MOST_PENDING], term[CLUE_MOST_TERMS];
    int pendings, terms;
};

static void wait_for(struct alternative *alternative, struct part part)
{
    if (alternative->pendings < MOST_PENDING)
        alternative->pending[alternative->pendings++] = part;
}

/* The condition inside of (x < 3) == 0, or behind a name that is defined as one. False: it is a term. */
static bool unwrap(struct reader *reader, struct part *part)
{
    const struct tree *const tree = &reader->tree;
    const struct node *const node = &tree->node[part->node];
    int64_t value;
    if (node->kind == NODE_NOT) {
        *part = (struct part){node->left, !part->negated, part->expansions};
        return true;
    }
    if (node->kind == NODE_COMPARE && (node->relation == CLUE_EQUAL || node->relation == CLUE_NOT_EQUAL) &&
        tree_is_boolean(tree, node->left) && tree_is_number(tree, node->right, &value) &&
        (value == 0 || value == 1)) {
        const bool opposite = (node->relation == CLUE_EQUAL) == (value == 0);
        *part = (struct part){node->left, part->negated != opposite, part->expansions};
        return true;
    }
    if (node->kind != NODE_NAME || part->expansions == MOST_EXPANSIONS)
        return false;
    const int mark = tree->count, expanded = expansion_of(reader, part->node);
    if (tree_is_boolean(tree, expanded)) {
        *part = (struct part){expanded, part->negated, part->expansions + 1};
        return true;
    }
    reader->tree.count = mark;
    return false;
}

static struct clue clue_at(const struct reader *reader, int token)
{
    const struct token *const place = &reader->source.token[token];
    struct clue clue = {.line = place->line};
    if (place->file >= 0) {
        const struct source_name *const file = &reader->source.name[place->file];
        snprintf(clue.file, sizeof clue.file, "%.*s", (int)file->length, file->text);
        for (char *c = clue.file; *c; c++) /* it may be printed */
            *c = *c < ' ' || *c > '~' ? '?' : *c;
    }
    return clue;
}

/* `tiles`: adds those of its terms. */
static struct clue clue_of(struct reader *reader, const struct alternative *alternative, int token,
                           bool tiles)
{
    struct clue clue = clue_at(reader, token);
    for (int i = 0; i < alternative->terms; i++) {
        struct clue_term term;
        const enum term_kind kind =
            term_of(reader, alternative->term[i].node, alternative->term[i].negated, &term);
        if (kind == TERM_TILE && tiles) {
            struct clue tile = clue_at(reader, token);
            tile.term[tile.terms++] = term;
            clues_add(reader, &tile);
        } else if (kind == TERM_COMPARED && !clue_has_term(&clue, &term))
            clue.term[clue.terms++] = term;
    }
    return clue;
}

/* Takes the next part of the alternative that waits. A second alternative goes to `*second`; true: there is
 * one. */
static bool take_part(struct reader *reader, struct alternative *first, struct alternative *second)
{
    struct part part = first->pending[--first->pendings];
    while (unwrap(reader, &part))
        continue;
    const struct node *const node = &reader->tree.node[part.node];
    if (node->kind != NODE_AND && node->kind != NODE_OR) {
        if (first->terms < CLUE_MOST_TERMS)
            first->term[first->terms++] = part;
        return false;
    }
    const bool both = (node->kind == NODE_AND) != part.negated;
    const struct part right = {node->right, part.negated, part.expansions};
    if (both)
        wait_for(first, right);
    else {
        *second = *first;
        wait_for(second, right);
    }
    wait_for(first, (struct part){node->left, part.negated, part.expansions});
    return !both;
}

/* Returns their number, and the last one. `add`: as clues. */
static int find_alternatives(struct reader *reader, struct part part, bool add, struct clue *last)
{
    struct alternative stack[MOST_STATES] = {{.pending = {part}, .pendings = 1}};
    const int token = reader->tree.node[part.node].token;
    int found = 0;
    for (int count = 1; count > 0;) {
        struct alternative present = stack[--count], second;
        while (present.pendings > 0)
            if (take_part(reader, &present, &second) && count < MOST_STATES)
                stack[count++] = second;
        *last = clue_of(reader, &present, token, add);
        if (add) {
            clues_add(reader, last);
            clues_add_enclosed(reader, last);
        }
        found++;
    }
    return found;
}

bool clues_opposite(struct reader *reader, int node, struct clue *opposite)
{
    const int mark = reader->tree.count;
    const int found =
        find_alternatives(reader, (struct part){.node = node, .negated = true}, false, opposite);
    reader->tree.count = mark;
    return found == 1 && opposite->terms > 0;
}

/* A long list of alternatives needs no stack of them. */
static int add_each(struct reader *reader, int node, struct clue *last)
{
    if (reader->tree.node[node].kind != NODE_OR)
        return find_alternatives(reader, (struct part){.node = node}, true, last);
    const int left = reader->tree.node[node].left, right = reader->tree.node[node].right;
    const int found = add_each(reader, left, last);
    return found + add_each(reader, right, last);
}

/* Clues of the operands of a condition's terms, unless the term tells all of them. */
static void add_operands(struct reader *reader, int node)
{
    const struct node *const at = &reader->tree.node[node];
    struct clue_term unused;
    int64_t value;
    if (at->kind == NODE_COMPARE && tree_is_boolean(&reader->tree, at->left) &&
        tree_is_number(&reader->tree, at->right, &value)) {
        add_operands(reader, at->left);
        return;
    }
    const bool term = !tree_is_boolean(&reader->tree, node) || at->kind == NODE_COMPARE;
    const bool told = term && term_of(reader, node, false, &unused) == TERM_COMPARED;
    const int side[] = {term && at->kind != NODE_COMPARE ? node : at->left,
                        at->kind == NODE_COMPARE ? at->right : -1};
    if (term) {
        for (int i = 0; i < 2; i++)
            if (side[i] >= 0 && (!told || reader->tree.node[side[i]].opaque))
                clues_add_expression(reader, side[i]);
    } else {
        add_operands(reader, at->left);
        if (at->right >= 0)
            add_operands(reader, at->right);
    }
}

bool clues_add_condition(struct reader *reader, int node, struct clue *only)
{
    const int mark = reader->tree.count;
    struct clue otherwise;
    /* Behind `if (a || b) return;` neither holds. */
    if (reader->tree.node[node].kind == NODE_OR)
        find_alternatives(reader, (struct part){.node = node, .negated = true}, true, &otherwise);
    const int found = add_each(reader, node, only);
    add_operands(reader, node);
    reader->tree.count = mark;
    return found == 1 && only->terms > 0;
}

void clues_add_overflow(struct reader *reader, int subject, int64_t greatest, int token)
{
    struct clue clue = clue_at(reader, token);
    struct clue_term *const term = &clue.term[clue.terms++];
    const struct node *const node = &reader->tree.node[subject];
    if (reader->quiet || (node->kind == NODE_NAME &&
                          definition_is_counter(&reader->definitions, reader_definition(reader, subject))))
        return;
    term->relation = CLUE_GREATER;
    snprintf(term->bound, sizeof term->bound, "%lld", (long long)greatest);
    if (term_text(reader, subject, term->subject, sizeof term->subject) && !strchr(term->subject, '?') &&
        strspn(term->subject, "-0123456789") < strlen(term->subject))
        clues_add(reader, &clue);
}

void clues_add_tile(struct reader *reader, int subject, int64_t bound, int token)
{
    struct clue clue = clue_at(reader, token);
    struct clue_term *const term = &clue.term[clue.terms++];
    if (reader->quiet || bound < 2 || bound >= (int64_t)1 << 40)
        return;
    term->relation = CLUE_TILE;
    snprintf(term->bound, sizeof term->bound, "%lld", (long long)bound);
    const struct tree *const tree = &reader->tree;
    const struct node *const node = subject >= 0 ? &tree->node[subject] : NULL;
    int64_t added;
    /* x of (x + 127) / 128 */
    if (node && node->kind == NODE_ADD && tree_is_number(tree, node->right, &added) && added == bound - 1)
        subject = node->left;
    else if (node && node->kind == NODE_ADD && tree_is_number(tree, node->left, &added) && added == bound - 1)
        subject = node->right;
    if (subject >= 0 && tree->node[subject].kind == NODE_NAME &&
        definition_is_counter(&reader->definitions, reader_definition(reader, subject)))
        subject = -1;
    if (subject < 0 || !term_text(reader, subject, term->subject, sizeof term->subject))
        strcpy(term->subject, "?");
    else if (strchr(term->subject, '?')) /* a name tells more */
        tree_text(tree, &reader->source, subject, term->subject, sizeof term->subject);
    if (strspn(term->subject, "-0123456789") == strlen(term->subject) || strchr(term->subject, '?'))
        strcpy(term->subject, "?");
    clues_add(reader, &clue);
}

static void add_choice(struct reader *reader, const struct node *node)
{
    struct clue only;
    const int enclosed = reader->enclosed;
    const bool single = clues_add_condition(reader, node->left, &only);
    if (single)
        enclose(reader, &only, false);
    clues_add_expression(reader, node->right);
    reader->enclosed = enclosed;
}

void clues_add_expression(struct reader *reader, int node)
{
    const struct node *const at = &reader->tree.node[node];
    struct clue only;
    int64_t bound;
    if (tree_is_boolean(&reader->tree, node)) {
        clues_add_condition(reader, node, &only);
        return;
    }
    if (at->kind == NODE_CHOICE) {
        add_choice(reader, at);
        return;
    }
    if ((at->kind == NODE_DIVIDE || at->kind == NODE_REMAINDER) &&
        tree_is_number(&reader->tree, at->right, &bound))
        clues_add_tile(reader, at->left, bound, at->token);
    else if (at->kind == NODE_STEP && tree_is_number(&reader->tree, at->right, &bound))
        clues_add_tile(reader, -1, bound, at->token);
    else if (at->kind == NODE_MULTIPLY && reader->tree.node[at->left].kind == NODE_INDEX &&
             tree_is_number(&reader->tree, at->right, &bound))
        clues_add_tile(reader, -1, bound, at->token);
    if (at->left >= 0)
        clues_add_expression(reader, at->left);
    if (at->right >= 0)
        clues_add_expression(reader, at->right);
}
