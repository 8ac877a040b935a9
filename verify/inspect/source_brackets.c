/* Pairs of brackets. Angle brackets are a pair if template arguments may be between them. */
#include <stdlib.h>

#include "source_tokens.h"

struct stack {
    int *at; /* opening brackets, outermost first */
    int count;
    int outdented; /* braces among them on lines that begin in the first column */
};

static int sign_at(const struct source *source, int at)
{
    return at >= 0 && at < source->count && source->token[at].kind == TOKEN_SIGN ? source->token[at].code : 0;
}

static int top(const struct source *source, const struct stack *stack)
{
    return stack->count ? sign_at(source, stack->at[stack->count - 1]) : 0;
}

static void push(const struct source *source, struct stack *stack, int at)
{
    stack->at[stack->count++] = at;
    stack->outdented += source->token[at].code == '{' && source->token[at].outdented;
}

static int pop(const struct source *source, struct stack *stack)
{
    const int at = stack->at[--stack->count];
    stack->outdented -= source->token[at].code == '{' && source->token[at].outdented;
    return at;
}

static void pop_angles(const struct source *source, struct stack *stack)
{
    while (top(source, stack) == '<')
        pop(source, stack);
}

/* Parentheses that are open at a '}' stay without a match, and braces too if this one ends a function: both
 * sides of an #if may open the same block. */
static void close_brace(struct source *source, struct stack *stack, int at)
{
    const bool outermost = source->token[at].first && stack->outdented > 0;
    while (stack->count) {
        const int open = pop(source, stack);
        if (source->token[open].code == '{' && (!outermost || source->token[open].outdented)) {
            source->token[open].match = at;
            return;
        }
    }
}

static void close_other(struct source *source, struct stack *stack, int at, int opening)
{
    while (stack->count && top(source, stack) != '{') {
        const int open = pop(source, stack);
        if (source->token[open].code == opening) {
            source->token[open].match = at;
            return;
        }
    }
}

/* Returns the last token that it reads. */
static int close_angle(struct source *source, struct stack *stack, int at)
{
    if (top(source, stack) == '<') {
        source->token[pop(source, stack)].match = at;
        return at;
    }
    if (top(source, stack) == SIGN_LAUNCH && sign_at(source, at + 1) == '>' &&
        sign_at(source, at + 2) == '>') {
        source->token[pop(source, stack)].match = at;
        return at + 2;
    }
    return at;
}

static bool may_open_arguments(const struct source *source, int at)
{
    const enum word word = token_word(source, at - 1);
    return token_is_name(source, at - 1) && (word == WORD_NONE || word == WORD_CAST || word == WORD_TEMPLATE);
}

/* Signs that no list of template arguments has outside of parentheses. */
static bool ends_arguments(const struct source *source, int at, int sign)
{
    const int next = sign_at(source, at + 1);
    return sign == ';' || sign == '?' || sign == SIGN_OR || sign == SIGN_EQUAL || sign == SIGN_NOT_EQUAL ||
           sign == SIGN_LESS_EQUAL || sign == SIGN_GREATER_EQUAL || sign == SIGN_ADD_TO ||
           sign == SIGN_SUBTRACT_FROM || (sign == SIGN_AND && next != '>' && next != ',');
}

int source_match_brackets(struct source *source)
{
    struct stack stack = {.at = malloc(((size_t)source->count + 1) * sizeof *stack.at)};
    if (!stack.at)
        return -1;
    for (int i = 0; i < source->count; i++) {
        const int sign = sign_at(source, i);
        if (ends_arguments(source, i, sign))
            pop_angles(source, &stack);
        source->token[i].parent = stack.count ? stack.at[stack.count - 1] : -1;
        if (sign == '(' || sign == '[' || sign == '{' || sign == SIGN_LAUNCH ||
            (sign == '<' && may_open_arguments(source, i)))
            push(source, &stack, i);
        else if (sign == '}')
            close_brace(source, &stack, i);
        else if (sign == ')' || sign == ']')
            close_other(source, &stack, i, sign == ')' ? '(' : '[');
        else if (sign == '>')
            i = close_angle(source, &stack, i);
    }
    free(stack.at);
    return 0;
}
