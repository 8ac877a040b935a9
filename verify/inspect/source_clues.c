#include "source_clues.h"

#include <stdlib.h>

#include "source_enclosing.h"
#include "source_leaving.h"

enum { MOST_LISTED = 32 };

static bool opens(const struct reader *reader, int at, int end, int sign)
{
    return at < end && token_is(&reader->source, at, sign) && reader->source.token[at].match > at &&
           reader->source.token[at].match < end;
}

/* Conditions that hold behind a header, and where the statement of the header does not run. */
struct branches {
    struct clue taken, other;
    bool is_taken, is_other; /* they are single alternatives */
};

/* Reads a header's condition, which is its last expression. */
static void walk_condition(struct reader *reader, int begin, int end, struct branches *branches)
{
    *branches = (struct branches){.is_taken = false};
    for (int at = begin; at < end;) {
        const int mark = reader->tree.count, first = at;
        const int node = expression_read(reader, &at, end);
        if (at == end && at > first) {
            branches->is_taken = clues_add_condition(reader, node, &branches->taken);
            branches->is_other = clues_opposite(reader, node, &branches->other);
        } else if (at > first)
            clues_add_expression(reader, node);
        else
            at = reader_skip(reader, at);
        reader->tree.count = mark;
    }
}

static int walk_statement(struct reader *reader, int at, int end);

/* One `if` with its statement. Behind it, the opposite of its condition encloses. */
static int walk_branch(struct reader *reader, int at, int end)
{
    struct branches branches;
    const int enclosed = reader->enclosed;
    reader->leaves = false;
    at++;
    if (at < end && token_word(&reader->source, at) == WORD_CONSTEXPR)
        at++;
    if (!opens(reader, at, end, '('))
        return at;
    const int close = reader->source.token[at].match;
    walk_condition(reader, at + 1, close, &branches);
    if (branches.is_taken)
        enclose(reader, &branches.taken, false);
    at = walk_statement(reader, close + 1, end);
    reader->enclosed = enclosed;
    if (branches.is_other)
        enclose(reader, &branches.other, true);
    return at;
}

/* if, else if, .., else. `behind`: conditions may hold behind it, too. */
static int walk_if(struct reader *reader, int at, int end, bool behind)
{
    int kept = reader->enclosed;
    bool left = behind;
    for (;;) {
        at = walk_branch(reader, at, end);
        left = left && reader->leaves;
        if (left)
            kept = reader->enclosed;
        if (at >= end || token_word(&reader->source, at) != WORD_ELSE || reader->failed || reader->done) {
            reader->leaves = false;
            break;
        }
        at++;
        if (at >= end || token_word(&reader->source, at) != WORD_IF) {
            at = walk_statement(reader, at, end);
            reader->leaves = reader->leaves && left;
            break;
        }
    }
    reader->enclosed = kept;
    return at;
}

static int find_semicolon(const struct reader *reader, int at, int end)
{
    while (at < end && !token_is(&reader->source, at, ';'))
        at = reader_skip(reader, at);
    return at;
}

/* "i += 64" of a loop to n: a tile of n. */
static void walk_steps(struct reader *reader, int begin, int end, int condition)
{
    struct tree *const tree = &reader->tree;
    const struct node limit = tree->node[condition];
    for (int at = begin; at < end;) {
        const int mark = tree->count, first = at;
        const int node = expression_read(reader, &at, end);
        const struct node *const step = &tree->node[node];
        int64_t bound;
        if (at > first && step->kind == NODE_STEP && limit.kind == NODE_COMPARE &&
            tree_is_number(tree, step->right, &bound) && tree->node[step->left].kind == NODE_NAME &&
            tree->node[limit.left].kind == NODE_NAME &&
            tree->node[limit.left].value == tree->node[step->left].value)
            clues_add_tile(reader, limit.right, bound, first);
        else if (at > first)
            clues_add_expression(reader, node);
        else
            at = reader_skip(reader, at);
        tree->count = mark;
    }
}

/* The parentheses after "for". */
static void walk_loop(struct reader *reader, int begin, int end)
{
    const int first = find_semicolon(reader, begin, end), second = find_semicolon(reader, first + 1, end);
    const int counter = reader->counter, mark = reader->tree.count;
    walk_tokens(reader, begin, first);
    if (second >= end)
        return;
    reader->counter = -1;
    for (int i = begin; i < first && reader->counter < 0; i++)
        if (token_is_name(&reader->source, i) && token_is(&reader->source, i + 1, '='))
            reader->counter = reader->source.token[i].code;
    struct clue only;
    int at = first + 1;
    const int node = expression_read(reader, &at, second);
    if (at > first + 1)
        clues_add_condition(reader, node, &only);
    walk_tokens(reader, at, second);
    walk_steps(reader, second + 1, end, node);
    reader->counter = counter;
    reader->tree.count = mark;
}

static int walk_switch(struct reader *reader, int at, int end)
{
    const int mark = reader->tree.count, subject = reader->subject, enclosed = reader->enclosed;
    const int cases = reader->cases, switched = reader->switched;
    at++;
    if (!opens(reader, at, end, '('))
        return at;
    const int close = reader->source.token[at].match;
    int inside = at + 1;
    const int node = expression_read(reader, &inside, close);
    clues_add_expression(reader, node);
    reader->subject = inside == close ? node : -1;
    reader->cases = close + 1;
    reader->switched = enclosed;
    at = walk_statement(reader, close + 1, end);
    reader->subject = subject;
    reader->cases = cases;
    reader->switched = switched;
    reader->enclosed = enclosed;
    reader->tree.count = mark;
    return at;
}

static int walk_case(struct reader *reader, int at, int end)
{
    const int mark = reader->tree.count, token = at++;
    const int node = expression_read(reader, &at, end);
    const bool own = reader->source.token[token].parent == reader->cases;
    struct clue only;
    if (own)
        reader->enclosed = reader->switched;
    if (at > token + 1 && reader->subject >= 0 &&
        clues_add_condition(reader, tree_compare(&reader->tree, CLUE_EQUAL, reader->subject, node, token),
                            &only) &&
        own)
        enclose(reader, &only, false);
    reader->tree.count = mark;
    return at;
}

/* Reads on behind a header, a word or an expression. A new statement may begin there, or not. */
static int walk_part(struct reader *reader, int at, int end)
{
    struct branches unused;
    const enum word word = token_word(&reader->source, at);
    if (word == WORD_CASE)
        return walk_case(reader, at, end);
    if (word == WORD_DEFAULT && reader->source.token[at].parent == reader->cases)
        reader->enclosed = reader->switched;
    if ((word == WORD_FOR || word == WORD_WHILE) && opens(reader, at + 1, end, '(')) {
        const int close = reader->source.token[at + 1].match;
        if (word == WORD_FOR)
            walk_loop(reader, at + 2, close);
        else
            walk_condition(reader, at + 2, close, &unused);
        return close + 1;
    }
    if (word == WORD_TEMPLATE && opens(reader, at + 1, end, '<')) {
        const int close = reader->source.token[at + 1].match;
        walk_tokens(reader, at + 2, close);
        return close + 1;
    }
    const int begin = at, mark = reader->tree.count;
    const int node = expression_read(reader, &at, end);
    if (at > begin)
        clues_add_expression(reader, node);
    else
        at = reader_skip(reader, at);
    reader->tree.count = mark;
    return at;
}

/* A short list of growing numbers, such as the sizes that a kernel supports. */
static void add_list(struct reader *reader, int begin, int end)
{
    const struct token *const token = reader->source.token;
    if (end - begin < 3 || end - begin > 2 * MOST_LISTED)
        return;
    for (int i = begin; i < end; i += 2)
        if (token[i].kind != TOKEN_NUMBER || (i > begin && token[i].value <= token[i - 2].value) ||
            (i + 1 < end && !token_is(&reader->source, i + 1, ',')))
            return;
    for (int i = begin; i < end; i += 2)
        clues_add_tile(reader, -1, token[i].value, i);
}

static int walk_block(struct reader *reader, int at)
{
    const int close = reader->source.token[at].match;
    add_list(reader, at + 1, close);
    reader->leaves = false;
    walk_tokens(reader, at + 1, close);
    return close + 1;
}

/* The part of a statement at `at`. `starts`: no header precedes it in the statement. Sets `leaves`. */
static int walk_next(struct reader *reader, int at, int end, bool starts)
{
    const enum word word = token_word(&reader->source, at);
    const bool leaves = starts && leaving_begins(&reader->source, at);
    /* A jump may come to a label, whatever holds before it. */
    if (starts && word == WORD_NONE && token_is_name(&reader->source, at) &&
        token_is(&reader->source, at + 1, ':'))
        reader->enclosed = reader->base;
    if (word == WORD_IF)
        at = walk_if(reader, at, end, starts && leaving_is_bounded(&reader->source, at));
    else if (opens(reader, at, end, '{'))
        at = walk_block(reader, at);
    else {
        at = word == WORD_SWITCH ? walk_switch(reader, at, end)
             : token_is(&reader->source, at, ';') || token_is(&reader->source, at, '}')
                 ? at + 1
                 : walk_part(reader, at, end);
        reader->leaves = leaves;
    }
    reader->leaves = reader->leaves && starts;
    return at;
}

/* Returns where the next statement begins. */
static int walk_statement(struct reader *reader, int at, int end)
{
    bool leaves = false, starts = true;
    if (at < end && reader->depth >= TREE_MOST_DEPTH)
        at = reader_skip(reader, at);
    else if (at < end) {
        reader->depth++;
        for (bool ended = false; at < end && !ended && !reader->failed && !reader->done;) {
            const enum word word = token_word(&reader->source, at);
            ended = word == WORD_IF || word == WORD_SWITCH || token_is(&reader->source, at, ';') ||
                    token_is(&reader->source, at, '}') || opens(reader, at, end, '{');
            if (reader->tree.count <= 1)
                reader->tree.full = false;
            at = walk_next(reader, at, end, starts);
            leaves |= reader->leaves;
            starts = token_is(&reader->source, at - 1, ':'); /* of a label */
        }
        reader->depth--;
    }
    reader->leaves = leaves;
    return at;
}

void walk_tokens(struct reader *reader, int begin, int end)
{
    const int enclosed = reader->enclosed, base = reader->base;
    reader->base = enclosed;
    while (begin < end && !reader->failed && !reader->done)
        begin = walk_statement(reader, begin, end);
    reader->enclosed = enclosed;
    reader->base = base;
}

int source_clues(struct clue_list *list, const char *text, size_t size, const char *main_file)
{
    struct reader *const reader = calloc(1, sizeof *reader);
    if (!reader)
        return -1;
    reader->list = list;
    reader->counter = reader->subject = reader->site = -1;
    reader->cases = -2; /* no bracket, and no parent of a token */
    reader->failed = source_read(&reader->source, text, size, main_file) != 0 ||
                     definitions_read(&reader->definitions, &reader->source) != 0;
    if (!reader->failed) {
        expansion_fold_constants(reader);
        walk_tokens(reader, 0, reader->source.count);
    }
    const int status = reader->failed ? -1 : 0;
    source_free(&reader->source);
    definitions_free(&reader->definitions);
    free(reader);
    return status;
}
