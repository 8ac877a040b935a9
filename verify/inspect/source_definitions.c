#include "source_definitions.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COMPARED = 32, MOST_HEADER = 64, MOST_NESTED = 64, MOST_STARS = 4 };

struct builder {
    struct definitions *all;
    const struct source *source;
    bool *declaring; /* in each bracket, and in none: a declaration precedes in the statement */
    bool failed;     /* memory is out */
};
/* A value of a name; `limit` 0: only what the flags tell. */
struct mention {
    int begin, limit;
    int64_t offset;
    bool changed, loop, parameter, macro;
};

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

/* --- the table --- */

/* The slot of a name in a scope, or the free one where it belongs. */
static int *slot_of(const struct definitions *all, int name, int scope)
{
    const uint32_t mask = (uint32_t)all->slots - 1;
    uint32_t at = ((uint32_t)name * 2654435761u) ^ ((uint32_t)scope * 2246822519u);
    for (at = (at ^ at >> 15) & mask; all->slot[at]; at = (at + 1) & mask) {
        const struct definition *const item = &all->item[all->slot[at] - 1];
        if (item->name == name && item->scope == scope)
            break;
    }
    return &all->slot[at];
}

static struct definition *find(const struct definitions *all, int name, int scope)
{
    const int slot = *slot_of(all, name, scope);
    return slot ? &all->item[slot - 1] : NULL;
}

struct definition *definition_at(const struct definitions *all, const struct source *source, int name, int at)
{
    if (!all->name[name].defined)
        return NULL;
    if (token_is_member(source, at)) /* other code may set it in another structure */
        return NULL;
    if (token_is(source, at - 1, SIGN_SCOPE))
        return find(all, name, SCOPE_OUTSIDE);
    int scope = source->token[at].parent;
    for (int i = 0; i < MOST_NESTED && scope >= 0; i++, scope = all->scopes.outer[scope]) {
        struct definition *const inner = find(all, name, scope);
        if (inner && (inner->first <= at || all->scopes.kind[scope] == SCOPE_CLASS))
            return inner;
    }
    struct definition *const outer = find(all, name, SCOPE_FILE);
    return outer ? outer : find(all, name, SCOPE_OUTSIDE);
}

static int grow(struct definitions *all)
{
    const int capacity = all->capacity ? 2 * all->capacity : 256;
    struct definition *const item = realloc(all->item, (size_t)capacity * sizeof *item);
    if (item)
        all->item = item;
    int *const slot = calloc((size_t)capacity * 2, sizeof *slot);
    if (!item || !slot) {
        free(slot);
        return -1;
    }
    free(all->slot);
    all->slot = slot;
    all->slots = 2 * capacity;
    all->capacity = capacity;
    for (int i = 0; i < all->count; i++)
        *slot_of(all, item[i].name, item[i].scope) = i + 1;
    return 0;
}

/* The definition in this very scope, which is new if need be; NULL when memory is out. */
static struct definition *enter(struct builder *b, int name, int scope, int at)
{
    struct definitions *const all = b->all;
    if (all->count == all->capacity && grow(all) != 0) {
        b->failed = true;
        return NULL;
    }
    int *const slot = slot_of(all, name, scope);
    if (!*slot) {
        all->item[all->count] = (struct definition){.name = name, .scope = scope, .first = at};
        *slot = ++all->count;
        all->name[name].defined = true;
    }
    return &all->item[*slot - 1];
}

static void add_to(struct builder *b, int name, int scope, int at, const struct mention *mention)
{
    struct definition *const definition = enter(b, name, scope, at);
    if (!definition)
        return;
    definition->changed |= mention->changed;
    definition->loop |= mention->loop;
    definition->parameter |= mention->parameter;
    if (mention->limit == 0)
        return;
    if (definition->count == 0) {
        definition->begin = mention->begin;
        definition->limit = mention->limit;
        definition->offset = mention->offset;
        definition->macro = mention->macro;
        definition->count = 1;
    } else if (definition->count == 1 &&
               !is_same_value(b->source, definition, mention->begin, mention->offset))
        definition->count = 2;
}

/* To a scope, and to what is visible from elsewhere. The structure of a member is unknown, and a table may
 * give its values: it has one only if nothing else in the text has its name. */
static void publish(struct builder *b, int name, int scope, int at, const struct mention *mention)
{
    add_to(b, name, scope, at, mention);
    const bool class = scope >= 0 && b->all->scopes.kind[scope] == SCOPE_CLASS;
    if (class || scope == SCOPE_FILE)
        add_to(b, name, SCOPE_OUTSIDE, at, mention);
    if (scope == SCOPE_MEMBER)
        return;
    struct mention other = *mention;
    if (!class && scope != SCOPE_OUTSIDE && other.limit > 0) {
        other.limit = 0;
        other.parameter = true;
    }
    add_to(b, name, SCOPE_MEMBER, at, &other);
}

/* To the definition that the name at `at` means. */
static void mention_name(struct builder *b, int at, const struct mention *mention)
{
    const int name = b->source->token[at].code;
    const struct definition *const seen = definition_at(b->all, b->source, name, at);
    publish(b, name,
            token_is_member(b->source, at) ? SCOPE_MEMBER
            : seen                         ? seen->scope
                                           : SCOPE_OUTSIDE,
            at, mention);
}

static void declare(struct builder *b, int at, const struct mention *mention)
{
    const int parent = b->source->token[at].parent;
    const bool macro = b->source->token[at].macro;
    b->declaring[parent + 1] = true;
    publish(b, b->source->token[at].code, macro ? SCOPE_FILE : scope_of(&b->all->scopes, b->source, at), at,
            mention);
}

/* --- the text --- */

/* Enumerators without a value of their own: the last value and 1, 2, .. more. */
static void read_enum(struct builder *b, int at)
{
    const struct source *const source = b->source;
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
            declare(b, i, &(struct mention){.begin = begin, .limit = limit, .offset = offset++});
    }
    if (close > open)
        b->declaring[open + 1] = true;
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
        return word_precedes_expression(token_word(source, at - 1));
    return last->kind == TOKEN_SIGN && last->code != ')' && last->code != ']' && last->code != '>';
}

/* Follows the name at `at` a type? `*stars` are the signs of pointers and references between. */
static bool has_type(const struct builder *b, int at, int *stars)
{
    const struct source *const source = b->source;
    int i = at - 1;
    for (*stars = 0; *stars < MOST_STARS &&
                     (token_is(source, i, '*') || token_is(source, i, '&') || token_is(source, i, SIGN_AND));
         ++*stars)
        i--;
    return token_is_type(source, i) || token_is(source, i, '>') ||
           (token_is(source, i, ',') && b->declaring[source->token[at].parent + 1]);
}

static bool is_parameter(const struct builder *b, int at)
{
    const struct source *const source = b->source;
    const int parent = source->token[at].parent;
    if (parent < 0 || source->token[parent].code == '{' ||
        !(token_is(source, at + 1, ',') || token_is(source, at + 1, ')') ||
          source->token[parent].match == at + 1))
        return false;
    int stars;
    const enum word before = token_word(source, parent - 1);
    const bool function = b->all->scopes.kind[parent] == SCOPE_HEADER && before == WORD_NONE;
    return token_is_type(source, at - 1) ||
           (function && !token_is(source, at - 1, ',') && has_type(b, at, &stars));
}

/* Is it declared without a value? */
static bool is_declared(const struct builder *b, int at)
{
    const int parent = b->source->token[at].parent;
    return (token_is(b->source, at + 1, ';') || token_is(b->source, at + 1, ',')) &&
           (parent < 0 || token_is(b->source, parent, '{')) &&
           (token_is_type(b->source, at - 1) ||
            (token_is(b->source, at - 1, ',') && b->declaring[parent + 1]));
}

/* The only return of a body, if it is its last statement; -1: it has none, or several. */
static int only_return(const struct source *source, int open, int end)
{
    enum { MOST_BODY = 400 };
    int found = -1;
    for (int i = open + 1; i < end; i++)
        if (token_word(source, i) == WORD_RETURN) {
            if (found >= 0 || source->token[i].parent != open)
                return -1;
            found = i;
        }
    if (end - open > MOST_BODY || found < 0 || found + 1 >= end)
        return -1;
    for (int i = found; i < end; i++)
        if (token_is(source, i, ';') && source->token[i].parent == open)
            return -1;
    return found;
}

/* name(..) {.. return expression;} */
static void read_function(const struct source *source, struct name_summary *name, int at)
{
    const int parameters = at + 1;
    int open = source->token[parameters].match + 1;
    for (int i = 0; i < 3 && token_is_type(source, open); i++)
        open++;
    if (open <= parameters || !token_is(source, open, '{') || source->token[open].match < 0)
        return;
    const int end = source->token[open].match - 1;
    name->functions++;
    const int last = token_is(source, end, ';') ? only_return(source, open, end) : -1;
    if (last >= 0) {
        name->parameters = parameters;
        name->body = last + 1;
        name->body_end = end;
    } else
        name->functions = 2;
}

static void read_value(struct builder *b, int at)
{
    const struct source *const source = b->source;
    const struct mention value = {
        .begin = at + 2, .limit = limit_at(source, at), .macro = source->token[at].macro};
    const int parent = source->token[at].parent;
    int stars;
    if (token_is_member(source, at))
        mention_name(b, at, &value);
    else if (value.macro || has_type(b, at, &stars) || token_is(source, parent, '<') ||
             (parent >= 0 && b->all->scopes.kind[parent] == SCOPE_CLEAR && b->declaring[parent + 1]))
        declare(b, at, &value);
    else if (stars == 0) /* *p = 3 does not change p */
        mention_name(b, at, &value);
}

static void read_loop(struct builder *b, int at)
{
    const struct source *const source = b->source;
    for (int i = at + 1; i < at + MOST_HEADER && i < source->count && !token_is(source, i, ';'); i++) {
        int stars;
        if (!token_is_name(source, i) || (!token_is(source, i + 1, '=') && !token_is(source, i + 1, ':')))
            continue;
        if (has_type(b, i, &stars))
            declare(b, i, &(struct mention){.loop = true});
        else
            mention_name(b, i, &(struct mention){.loop = true});
    }
}

static void read_name(struct builder *b, int at)
{
    const struct source *const source = b->source;
    struct name_summary *const name = &b->all->name[source->token[at].code];
    name->member |= token_is_member(source, at);
    if (token_is(source, at + 1, '('))
        read_function(source, name, at);
    if (token_is(source, at + 1, '='))
        read_value(b, at);
    else if (is_change(source, at + 1) || token_is(source, at - 1, SIGN_INCREMENT) ||
             token_is(source, at - 1, SIGN_DECREMENT) || is_address(source, at - 1))
        mention_name(b, at, &(struct mention){.changed = true});
    else if (is_parameter(b, at))
        declare(b, at, &(struct mention){.parameter = true});
    else if (is_declared(b, at))
        declare(b, at, &(struct mention){0});
}

int definitions_read(struct definitions *all, const struct source *source)
{
    struct builder b = {.all = all, .source = source};
    *all = (struct definitions){.name = calloc((size_t)source->names, sizeof *all->name)};
    b.declaring = calloc((size_t)source->count + 1, sizeof *b.declaring);
    b.failed = !all->name || !b.declaring || grow(all) != 0 || scopes_read(&all->scopes, source) != 0;
    for (int i = 0; i < source->count && !b.failed; i++) {
        const enum word word = token_word(source, i);
        if (word == WORD_ENUM)
            read_enum(&b, i);
        else if (word == WORD_FOR)
            read_loop(&b, i);
        else if (token_is(source, i, ';'))
            b.declaring[source->token[i].parent + 1] = false;
        else if (token_is_name(source, i) && word == WORD_NONE)
            read_name(&b, i);
    }
    free(b.declaring);
    return b.failed ? -1 : 0;
}

void definitions_free(struct definitions *all)
{
    free(all->item);
    free(all->name);
    free(all->slot);
    scopes_free(&all->scopes);
}
