#include "source_operand.h"

#include <string.h>

#include "source_inline.h"
#include "source_reader.h"

static int opaque(struct reader *reader, int token)
{
    return tree_leaf(&reader->tree, NODE_OPAQUE, 0, token);
}

/* Reads what is inside of brackets for its clues, and moves behind them. */
static void pass_brackets(struct reader *reader, int *at)
{
    const int open = *at, close = reader->source.token[open].match;
    *at = close + 1;
    if (!reader->quiet)
        walk_tokens(reader, open + 1, close);
}

/* The same of brackets whose first `most` numbers are extents or sizes of a launch. */
static void pass_extents(struct reader *reader, int *at, int most)
{
    const int open = *at, close = reader->source.token[open].match;
    *at = close + 1;
    if (reader->quiet)
        return;
    for (int i = open + 1; i < close && most > 0; most--) {
        const int mark = reader->tree.count, begin = i;
        const int node = expression_read(reader, &i, close);
        int64_t value;
        if (tree_is_number(&reader->tree, node, &value))
            clues_add_tile(reader, -1, value, begin);
        else if (i > begin)
            clues_add_expression(reader, node);
        reader->tree.count = mark;
        while (i < close && !token_is(&reader->source, i, ','))
            i = reader_skip(reader, i);
        i++;
    }
}

static bool opens(const struct reader *reader, int at, int end, int sign)
{
    return at < end && token_is(&reader->source, at, sign) && reader->source.token[at].match > at &&
           reader->source.token[at].match < end;
}

/* The value in parentheses; "?" if there is more than one, as between commas. */
static int read_group(struct reader *reader, int *at)
{
    const int open = *at, close = reader->source.token[open].match;
    int inside = open + 1;
    *at = close + 1;
    const int node = expression_read(reader, &inside, close);
    if (inside == close && inside > open + 1)
        return node;
    if (!reader->quiet) {
        clues_add_expression(reader, node);
        walk_tokens(reader, inside, close);
    }
    return opaque(reader, open);
}

/* [..](..) {..} */
static int read_lambda(struct reader *reader, int *at, int end)
{
    const int token = *at;
    pass_brackets(reader, at);
    bool function = opens(reader, *at, end, '{');
    if (opens(reader, *at, end, '(')) {
        pass_brackets(reader, at);
        for (int i = 0; i < 8 && *at < end &&
                        (token_is_name(&reader->source, *at) || token_is(&reader->source, *at, SIGN_ARROW));
             i++)
            ++*at;
        function = opens(reader, *at, end, '{');
    }
    if (function)
        pass_brackets(reader, at);
    return opaque(reader, token);
}

/* sizeof(type): of several words, as in "unsigned long int", one that is not the size of an int decides. */
static int read_sizeof(struct reader *reader, int *at, int end)
{
    const int token = (*at)++;
    int64_t size = 0;
    while (*at < end && token_is(&reader->source, *at, '*'))
        ++*at;
    if (!opens(reader, *at, end, '(')) {
        const int mark = reader->tree.count;
        reader->depth++;
        if (*at < end && reader->depth < TREE_MOST_DEPTH)
            operand_read(reader, at, end);
        reader->depth--;
        reader->tree.count = mark;
        return opaque(reader, token);
    }
    const int close = reader->source.token[*at].match;
    for (int i = *at + 1; i < close; i++) {
        const int64_t word =
            token_is_name(&reader->source, i) ? reader->source.name[reader->source.token[i].code].size : 0;
        if (token_is(&reader->source, i, '*') && i == close - 1 && i > *at + 1)
            size = 8;
        else if (!token_is_type(&reader->source, i) && !token_is(&reader->source, i, SIGN_SCOPE)) {
            size = 0;
            break;
        } else if (size == 0 || (word == 8 && size == 4) || (word > 0 && word < 4))
            size = word;
    }
    *at = close + 1;
    return size > 0 ? tree_leaf(&reader->tree, NODE_NUMBER, size, token) : opaque(reader, token);
}

/* A name's own node: the last part of a::b. */
static int name_node(struct reader *reader, int token, bool member)
{
    const int name = reader->source.token[token].code;
    const int argument = member ? -1 : inline_argument(reader, name);
    if (argument >= 0)
        return argument;
    switch (reader->source.name[name].word) {
    case WORD_TRUE: return tree_leaf(&reader->tree, NODE_NUMBER, 1, token);
    case WORD_FALSE: return tree_leaf(&reader->tree, NODE_NUMBER, 0, token);
    case WORD_LIMIT: return tree_leaf(&reader->tree, NODE_NUMBER, reader->source.name[name].size, token);
    case WORD_INDEX: return tree_leaf(&reader->tree, NODE_INDEX, 0, token);
    case WORD_NONE: break;
    default: return opaque(reader, token);
    }
    if (!member && reader->site >= 0 && !token_is(&reader->source, token - 1, SIGN_SCOPE))
        token = reader->site;
    const struct definition *const definition =
        definition_at(&reader->definitions, &reader->source, name, token);
    if (definition && definition->constant)
        return tree_leaf(&reader->tree, NODE_NUMBER, definition->value, token);
    return tree_leaf(&reader->tree, NODE_NAME, name, token);
}

/* Is the name at `at` followed by template arguments? */
static bool has_arguments(const struct reader *reader, int at, int end)
{
    if (!opens(reader, at, end, '<'))
        return false;
    const int next = reader->source.token[at].match + 1;
    return next >= end || (reader->source.token[next].kind != TOKEN_NUMBER &&
                           reader->source.token[next].kind != TOKEN_FLOAT);
}

static bool is_value_word(enum word word)
{
    return word == WORD_NONE || word == WORD_TYPE || word == WORD_QUALIFIER || word == WORD_DIM3 ||
           word == WORD_LAUNCH_BOUNDS || word == WORD_INDEX || word == WORD_TRUE || word == WORD_FALSE ||
           word == WORD_NULL || word == WORD_LIMIT;
}

static bool ends_in_t(const struct token *token)
{
    return token->length > 2 && memcmp(token->text + token->length - 2, "_t", 2) == 0;
}

/* std::numeric_limits<int>::max(), where `last` is "max"; 0: it is not. */
static int64_t limit_of(const struct source *source, int last)
{
    if (source->token[last].length != 3 || memcmp(source->token[last].text, "max", 3) != 0 ||
        !token_is(source, last - 1, SIGN_SCOPE) || !token_is(source, last - 2, '>') ||
        !token_is(source, last - 4, '<') || token_word(source, last - 3) != WORD_TYPE)
        return 0;
    const struct source_name *const type = &source->name[source->token[last - 3].code];
    const int64_t bits = 8 * type->size - (type->text[0] != 'u');
    const bool integer =
        strchr("iu", type->text[0]) || (type->length == 5 && memcmp(type->text, "short", 5) == 0);
    return integer && bits > 0 && bits < 63 ? ((int64_t)1 << bits) - 1 : 0;
}

/* name(..): a conversion, sizes of a launch, or a call, whose value is "?" unless its function is simple. */
static int read_call(struct reader *reader, int *at, int first, int last)
{
    const enum word word = token_word(&reader->source, last);
    if (word == WORD_TYPE || (word == WORD_NONE && ends_in_t(&reader->source.token[last])))
        return read_group(reader, at);
    const int open = *at;
    if (word == WORD_DIM3 || token_word(&reader->source, first - 1) == WORD_DIM3)
        pass_extents(reader, at, 3);
    else if (word == WORD_LAUNCH_BOUNDS)
        pass_extents(reader, at, 1);
    else
        pass_brackets(reader, at);
    const int64_t most = limit_of(&reader->source, last);
    if (most > 0)
        return tree_leaf(&reader->tree, NODE_NUMBER, most, first);
    const int value = word == WORD_NONE ? inline_call(reader, last, open) : -1;
    return value >= 0 ? value : opaque(reader, first);
}

/* kernel<<<grid, block, ..>>> */
static void pass_launch(struct reader *reader, int *at)
{
    pass_extents(reader, at, 2);
    *at += 2;
}

/* What follows an operand that begins at `first`: calls, elements, members. */
static int read_suffixes(struct reader *reader, int *at, int end, int first, int node)
{
    const struct source *const source = &reader->source;
    bool declared = token_is_type(source, first - 1) && token_is_name(source, first);
    for (int last = *at - 1; *at < end; last = *at - 1) {
        if (opens(reader, *at, end, '(') && token_is_name(source, last))
            node = read_call(reader, at, first, last);
        else if (opens(reader, *at, end, '(')) {
            pass_brackets(reader, at);
            node = opaque(reader, first);
        } else if (opens(reader, *at, end, '[')) {
            if (declared)
                pass_extents(reader, at, 1);
            else
                pass_brackets(reader, at);
            node = opaque(reader, first);
        } else if (opens(reader, *at, end, SIGN_LAUNCH)) {
            pass_launch(reader, at);
            node = opaque(reader, first);
        } else if ((token_is(source, *at, '.') || token_is(source, *at, SIGN_ARROW)) &&
                   token_is_name(source, *at + 1) && *at + 1 < end) {
            *at += 2;
            declared = false;
            if (reader->tree.node[node].kind != NODE_INDEX)
                node = name_node(reader, *at - 1, true);
        } else if (token_is(source, *at, SIGN_INCREMENT) || token_is(source, *at, SIGN_DECREMENT))
            ++*at;
        else
            break;
    }
    return node;
}

static int read_name(struct reader *reader, int *at, int end)
{
    const struct source *const source = &reader->source;
    const int first = *at;
    bool arguments = false;
    int last = first;
    for (;; last = *at) {
        ++*at;
        if (has_arguments(reader, *at, end)) {
            pass_extents(reader, at, 64);
            arguments = true;
        }
        if (*at + 1 >= end || !token_is(source, *at, SIGN_SCOPE) || !token_is_name(source, *at + 1))
            break;
        ++*at;
    }
    if ((arguments || token_word(source, last) == WORD_TYPE || token_word(source, first - 1) == WORD_DIM3) &&
        opens(reader, *at, end, '{')) {
        if (token_word(source, first - 1) == WORD_DIM3)
            pass_extents(reader, at, 3);
        else
            pass_brackets(reader, at);
        return opaque(reader, first);
    }
    return read_suffixes(reader, at, end, first, name_node(reader, last, false));
}

/* static_cast<type>(value) */
static int read_named_cast(struct reader *reader, int *at, int end)
{
    const int token = (*at)++;
    if (opens(reader, *at, end, '<'))
        *at = reader->source.token[*at].match + 1;
    const bool pointer = token_is(&reader->source, *at - 2, '*');
    if (!opens(reader, *at, end, '('))
        return opaque(reader, token);
    const int node = read_group(reader, at);
    return pointer ? tree_binary(&reader->tree, NODE_OTHER, node, -1, token) : node;
}

int operand_read(struct reader *reader, int *at, int end)
{
    const struct token *const token = &reader->source.token[*at];
    const int begin = *at;
    const enum word word = token_word(&reader->source, begin);
    if (token->kind == TOKEN_NUMBER || token->kind == TOKEN_FLOAT || token->kind == TOKEN_TEXT) {
        ++*at;
        return tree_leaf(&reader->tree,
                         token->kind == TOKEN_NUMBER  ? NODE_NUMBER
                         : token->kind == TOKEN_FLOAT ? NODE_FLOAT
                                                      : NODE_OPAQUE,
                         token->value, begin);
    }
    if (word == WORD_SIZEOF)
        return read_sizeof(reader, at, end);
    if (word == WORD_CAST)
        return read_suffixes(reader, at, end, begin, read_named_cast(reader, at, end));
    if (token->kind == TOKEN_NAME)
        return is_value_word(word) ? read_name(reader, at, end) : 0;
    if (opens(reader, begin, end, '('))
        return read_suffixes(reader, at, end, begin, read_group(reader, at));
    if (opens(reader, begin, end, '['))
        return read_lambda(reader, at, end);
    if (opens(reader, begin, end, '{')) {
        *at = token->match + 1;
        if (!reader->quiet)
            walk_tokens(reader, begin, *at);
        return opaque(reader, begin);
    }
    return 0;
}
