#include "source_scopes.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BEFORE_BODY = 8, MOST_HEAD = 64, MOST_CLEAR = 16 };

static bool has_text(const struct source *source, int at, const char *text)
{
    return token_is_name(source, at) && source->token[at].length == strlen(text) &&
           memcmp(source->token[at].text, text, strlen(text)) == 0;
}

/* The block behind the parentheses at `open`: f(..) const -> int {; -1: there is none. */
static int body_of(const struct source *source, int open)
{
    if (source->token[open].match < 0)
        return -1;
    int at = source->token[open].match + 1;
    for (int i = 0; i < MOST_BEFORE_BODY && (token_is_type(source, at) || token_is(source, at, SIGN_ARROW) ||
                                             token_is(source, at, SIGN_SCOPE) || token_is(source, at, '*') ||
                                             token_is(source, at, '&'));
         i++)
        at++;
    return token_is(source, at, '{') ? at : -1;
}

static void read_parentheses(struct scopes *scopes, const struct source *source, int open)
{
    const int body = body_of(source, open);
    if (body >= 0) {
        scopes->outer[body] = open;
        scopes->kind[open] = SCOPE_HEADER;
    } else if (token_word(source, open - 1) == WORD_FOR)
        scopes->kind[open] = SCOPE_CLEAR;
}

/* The parameters of a template are visible in the parameters and the block of its function or class. */
static void read_template(struct scopes *scopes, const struct source *source, int open)
{
    int at = source->token[open].match + 1;
    if (at <= open)
        return;
    for (int i = 0; i < MOST_HEAD && at < source->count && !token_is(source, at, ';'); i++, at++) {
        const bool nested = token_word(source, at) == WORD_TEMPLATE && token_is(source, at + 1, '<');
        if (nested || token_is(source, at, '{') || (token_is(source, at, '(') && body_of(source, at) >= 0)) {
            scopes->outer[at + nested] = open;
            return;
        }
        if (source->token[at].match > at)
            at = source->token[at].match;
    }
}

/* struct name : base {, namespace name {, enum class name : int { */
static void read_head(struct scopes *scopes, const struct source *source, int at, enum scope_kind kind)
{
    for (int i = at + 1; i < at + MOST_HEAD && i < source->count; i++) {
        if (token_is(source, i, '{')) {
            scopes->kind[i] = (unsigned char)kind;
            return;
        }
        if (token_is(source, i, ';') || token_is(source, i, '(') || token_is(source, i, ')') ||
            token_is(source, i, '='))
            return;
    }
}

static bool begins_class(const struct source *source, int at)
{
    const enum word word = token_word(source, at);
    return (word == WORD_QUALIFIER && has_text(source, at, "struct")) ||
           (word == WORD_QUALIFIER && has_text(source, at, "extern") && at + 1 < source->count &&
            source->token[at + 1].kind == TOKEN_TEXT) ||
           (word == WORD_SKIPPED && (has_text(source, at, "class") || has_text(source, at, "union") ||
                                     has_text(source, at, "namespace")));
}

int scopes_read(struct scopes *scopes, const struct source *source)
{
    const size_t count = (size_t)source->count + 1;
    scopes->outer = malloc(count * sizeof *scopes->outer);
    scopes->kind = calloc(count, sizeof *scopes->kind);
    if (!scopes->outer || !scopes->kind)
        return -1;
    for (int i = 0; i < source->count; i++)
        scopes->outer[i] = source->token[i].parent;
    for (int i = 0; i < source->count; i++) {
        const enum word word = token_word(source, i);
        if (token_is(source, i, '('))
            read_parentheses(scopes, source, i);
        else if (word == WORD_TEMPLATE && token_is(source, i + 1, '<'))
            read_template(scopes, source, i + 1);
        else if (begins_class(source, i) && token_word(source, i - 1) != WORD_ENUM)
            read_head(scopes, source, i, SCOPE_CLASS);
        else if (word == WORD_ENUM)
            read_head(scopes, source, i, SCOPE_CLEAR);
    }
    return 0;
}

void scopes_free(struct scopes *scopes)
{
    free(scopes->outer);
    free(scopes->kind);
}

int scope_of(const struct scopes *scopes, const struct source *source, int at)
{
    int scope = source->token[at].parent;
    for (int i = 0; i < MOST_CLEAR && scope >= 0; i++) {
        if (scopes->kind[scope] != SCOPE_CLEAR && !token_is(source, scope, '['))
            return scope;
        scope = scopes->outer[scope];
    }
    return scope;
}
