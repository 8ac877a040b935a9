#include "source_leaving.h"

#include <string.h>

static const char *const functions[] = {
    "exit",           "_exit",       "_Exit",
    "quick_exit",     "abort",       "terminate",
    "longjmp",        "__trap",      "__builtin_unreachable",
    "__builtin_trap", "unreachable", "pthread_exit",
};

bool leaving_begins(const struct source *source, int at)
{
    const enum word word = token_word(source, at);
    if (word == WORD_RETURN || word == WORD_LEAVE)
        return true;
    if (token_is_name(source, at) && token_is(source, at + 1, SIGN_SCOPE))
        at++;
    if (token_is(source, at, SIGN_SCOPE))
        at++;
    if (!token_is_name(source, at) || !token_is(source, at + 1, '('))
        return false;
    const struct token *const token = &source->token[at];
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (token->length == strlen(functions[i]) && memcmp(token->text, functions[i], token->length) == 0)
            return true;
    return false;
}

bool leaving_is_bounded(const struct source *source, int at)
{
    const int parent = source->token[at].parent;
    return token_is(source, parent, '{') && source->token[parent].match > at;
}
