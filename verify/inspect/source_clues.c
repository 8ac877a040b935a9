#include "source_clues.h"

#include <stdlib.h>

#include "source_reader.h"

enum { MOST_LISTED = 32 };

static bool opens(const struct reader *reader, int at, int end, int sign)
{
    return at < end && token_is(&reader->source, at, sign) && reader->source.token[at].match > at &&
           reader->source.token[at].match < end;
}

static void enclose(struct reader *reader, const struct clue *clue)
{
    for (int i = 0; i < clue->terms && reader->enclosed < READER_MOST_ENCLOSING; i++)
        reader->enclosing[reader->enclosed++] = clue->term[i];
}

/* Reads a header's condition, which is its last expression. True: `only` is its single alternative. */
static bool walk_condition(struct reader *reader, int begin, int end, struct clue *only)
{
    bool single = false;
    for (int at = begin; at < end;) {
        const int mark = reader->tree.count, first = at;
        const int node = expression_read(reader, &at, end);
        if (at == end && at > first)
            single = clues_add_condition(reader, node, only);
        else if (at > first)
            clues_add_expression(reader, node);
        else
            at = reader_skip(reader, at);
        reader->tree.count = mark;
    }
    return single;
}

static int walk_statement(struct reader *reader, int at, int end);

static int walk_if(struct reader *reader, int at, int end)
{
    struct clue only;
    const int enclosed = reader->enclosed;
    at++;
    if (at < end && token_word(&reader->source, at) == WORD_CONSTEXPR)
        at++;
    if (!opens(reader, at, end, '('))
        return at;
    const int close = reader->source.token[at].match;
    if (walk_condition(reader, at + 1, close, &only))
        enclose(reader, &only);
    at = walk_statement(reader, close + 1, end);
    reader->enclosed = enclosed;
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
    at++;
    if (!opens(reader, at, end, '('))
        return at;
    const int close = reader->source.token[at].match;
    int inside = at + 1;
    const int node = expression_read(reader, &inside, close);
    clues_add_expression(reader, node);
    reader->subject = inside == close ? node : -1;
    at = walk_statement(reader, close + 1, end);
    reader->subject = subject;
    reader->enclosed = enclosed;
    reader->tree.count = mark;
    return at;
}

static int walk_case(struct reader *reader, int at, int end)
{
    const int mark = reader->tree.count, token = at++;
    const int node = expression_read(reader, &at, end);
    struct clue only;
    if (at > token + 1 && reader->subject >= 0)
        clues_add_condition(reader, tree_compare(&reader->tree, CLUE_EQUAL, reader->subject, node, token),
                            &only);
    reader->tree.count = mark;
    return at;
}

/* Reads on behind a header, a word or an expression. A new statement may begin there, or not. */
static int walk_part(struct reader *reader, int at, int end)
{
    struct clue only;
    const enum word word = token_word(&reader->source, at);
    if (word == WORD_CASE)
        return walk_case(reader, at, end);
    if ((word == WORD_FOR || word == WORD_WHILE) && opens(reader, at + 1, end, '(')) {
        const int close = reader->source.token[at + 1].match;
        if (word == WORD_FOR)
            walk_loop(reader, at + 2, close);
        else
            walk_condition(reader, at + 2, close, &only);
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
    walk_tokens(reader, at + 1, close);
    return close + 1;
}

/* Returns where the next statement begins. */
static int walk_statement(struct reader *reader, int at, int end)
{
    if (at >= end)
        return end;
    if (reader->depth >= TREE_MOST_DEPTH)
        return reader_skip(reader, at);
    reader->depth++;
    for (bool ended = false; at < end && !ended && !reader->failed && !reader->done;) {
        const enum word word = token_word(&reader->source, at);
        ended = word == WORD_IF || word == WORD_SWITCH || token_is(&reader->source, at, ';') ||
                token_is(&reader->source, at, '}') || opens(reader, at, end, '{');
        if (reader->tree.count <= 1)
            reader->tree.full = false;
        if (word == WORD_IF)
            at = walk_if(reader, at, end);
        else if (word == WORD_SWITCH)
            at = walk_switch(reader, at, end);
        else if (opens(reader, at, end, '{'))
            at = walk_block(reader, at);
        else if (ended)
            at++;
        else
            at = walk_part(reader, at, end);
    }
    reader->depth--;
    return at;
}

void walk_tokens(struct reader *reader, int begin, int end)
{
    while (begin < end && !reader->failed && !reader->done)
        begin = walk_statement(reader, begin, end);
}

int source_clues(struct clue_list *list, const char *text, size_t size, const char *main_file)
{
    struct reader *const reader = calloc(1, sizeof *reader);
    if (!reader)
        return -1;
    reader->list = list;
    reader->counter = reader->subject = -1;
    reader->failed = source_read(&reader->source, text, size, main_file) != 0 ||
                     !(reader->definition = definitions_read(&reader->source));
    if (!reader->failed) {
        expansion_fold_constants(reader);
        walk_tokens(reader, 0, reader->source.count);
    }
    const int status = reader->failed ? -1 : 0;
    source_free(&reader->source);
    free(reader->definition);
    free(reader);
    return status;
}
