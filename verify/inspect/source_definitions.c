#include "source_definitions.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COMPARED = 32, MOST_HEADER = 64 };

/* The end of the innermost brackets around a token that have one. */
static int limit_at(const struct source *source, int at)
{
    int parent = source->token[at].parent;
    for (int i = 0; i < 8 && parent >= 0; i++, parent = source->token[parent].parent)
        if (source->token[parent].match > at)
            return source->token[parent].match;
    return source->count;
}

static bool ends_value(const struct token *token)
{
    return token->kind == TOKEN_SIGN &&
           (token->code == ';' || token->code == ',' || token->code == ')' || token->code == '}');
}

static bool is_same_token(const struct token *a, const struct token *b)
{
    return a->kind == b->kind && a->code == b->code && a->value == b->value && a->length == b->length;
}

/* Are two values of few tokens equal? */
static bool is_same_value(const struct source *source, const struct definition *definition, int begin,
                          int64_t offset)
{
    if (definition->offset != offset)
        return false;
    for (int i = 0; i < MOST_COMPARED; i++) {
        const int a = definition->begin + i, b = begin + i;
        if (a >= source->count || b >= source->count)
            return a == b;
        const struct token *const first = &source->token[a], *const second = &source->token[b];
        if (ends_value(first) && ends_value(second))
            return true;
        if (!is_same_token(first, second))
            return false;
    }
    return false;
}

static void define(const struct source *source, struct definition *all, int name, int begin, int limit,
                   int64_t offset)
{
    struct definition *const definition = &all[name];
    if (definition->count == 0) {
        definition->begin = begin;
        definition->limit = limit;
        definition->offset = offset;
        definition->count = 1;
    } else if (definition->count == 1 && !is_same_value(source, definition, begin, offset))
        definition->count = 2;
}

/* Enumerators without a value of their own: the last value and 1, 2, .. more. */
static void read_enum(const struct source *source, struct definition *all, int at)
{
    int open = at + 1;
    while (open < at + 6 && open < source->count && !token_is(source, open, '{') &&
           !token_is(source, open, ';'))
        open++;
    const int close = token_is(source, open, '{') ? source->token[open].match : -1;
    int begin = open, limit = open;
    int64_t offset = 0;
    for (int i = open + 1; i < close; i++) {
        const bool starts = token_is(source, i - 1, ',') || i == open + 1;
        if (source->token[i].match > i)
            i = source->token[i].match;
        else if (starts && token_is_name(source, i) && token_is(source, i + 1, '=')) {
            begin = i + 2;
            limit = close;
            offset = 1;
        } else if (starts && token_is_name(source, i))
            define(source, all, source->token[i].code, begin, limit, offset++);
    }
}

static void read_loop(const struct source *source, struct definition *all, int at)
{
    for (int i = at + 1; i < at + MOST_HEADER && i < source->count && !token_is(source, i, ';'); i++)
        if (token_is_name(source, i) && (token_is(source, i + 1, '=') || token_is(source, i + 1, ':')))
            all[source->token[i].code].loop = true;
}

static bool is_change(const struct source *source, int at)
{
    const struct token *const token = &source->token[at];
    return at < source->count && token->kind == TOKEN_SIGN && token->code >= SIGN_INCREMENT &&
           token->code <= SIGN_ASSIGN_OTHER;
}

/* Is the & at `at` an operator of one operand? */
static bool is_address(const struct source *source, int at)
{
    if (!token_is(source, at, '&') || at == 0)
        return false;
    const struct token *const last = &source->token[at - 1];
    if (last->kind == TOKEN_NAME)
        return token_word(source, at - 1) == WORD_SKIPPED || token_word(source, at - 1) == WORD_RETURN;
    return last->kind == TOKEN_SIGN && last->code != ')' && last->code != ']' && last->code != '>';
}

static bool is_parameter(const struct source *source, int at)
{
    const int parent = source->token[at].parent;
    if (!token_is_type(source, at - 1) || parent < 0 || source->token[parent].code == '{')
        return false;
    return token_is(source, at + 1, ',') || token_is(source, at + 1, ')') ||
           source->token[parent].match == at + 1;
}

/* name(..) {return expression;} */
static void read_function(const struct source *source, struct definition *definition, int at)
{
    const int parameters = at + 1;
    int open = source->token[parameters].match + 1;
    for (int i = 0; i < 3 && token_is_type(source, open); i++)
        open++;
    if (open <= parameters || !token_is(source, open, '{') || source->token[open].match < 0)
        return;
    const int end = source->token[open].match - 1;
    definition->functions++;
    if (end > open + 2 && token_word(source, open + 1) == WORD_RETURN && token_is(source, end, ';')) {
        definition->parameters = parameters;
        definition->body = open + 2;
        definition->body_end = end;
    } else
        definition->functions = 2;
}

struct definition *definitions_read(const struct source *source)
{
    struct definition *const all = calloc((size_t)source->names, sizeof *all);
    for (int i = 0; all && i < source->count; i++) {
        const enum word word = token_word(source, i);
        if (word == WORD_ENUM)
            read_enum(source, all, i);
        else if (word == WORD_FOR)
            read_loop(source, all, i);
        if (!token_is_name(source, i) || word != WORD_NONE)
            continue;
        struct definition *const definition = &all[source->token[i].code];
        definition->member |= token_is(source, i - 1, '.') || token_is(source, i - 1, SIGN_ARROW);
        if (token_is(source, i + 1, '('))
            read_function(source, definition, i);
        if (token_is(source, i + 1, '='))
            define(source, all, source->token[i].code, i + 2, limit_at(source, i), 0);
        else if (is_change(source, i + 1) || token_is(source, i - 1, SIGN_INCREMENT) ||
                 token_is(source, i - 1, SIGN_DECREMENT) || is_address(source, i - 1))
            definition->changed = true;
        else if (is_parameter(source, i))
            definition->parameter = true;
    }
    return all;
}
