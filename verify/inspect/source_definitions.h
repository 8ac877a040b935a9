/* Definitions of names: the values that a text gives them, for each scope apart. */
#ifndef UNSEEN_SOURCE_DEFINITIONS_H
#define UNSEEN_SOURCE_DEFINITIONS_H

#include "source_scopes.h"

/* A name in one scope. */
struct definition {
    int name, scope;
    int first;        /* token of its declaration */
    int count;        /* of different values */
    int begin, limit; /* the value's first token, and where it ends at the latest; equal: it is `offset` */
    int64_t offset;   /* is added: of enumerators without a value of their own */
    int64_t value;
    bool changed;   /* by ++, +=, or by way of its address */
    bool loop;      /* counts a loop */
    bool parameter; /* of a function or a template, without a default */
    bool macro;     /* names in its value are those of the place where it is used */
    bool constant;  /* its value is the number `value` */
    bool active;    /* its value is being read */
};

/* A name in the whole text. */
struct name_summary {
    bool defined;                   /* in some scope */
    bool member;                    /* of a structure */
    int functions;                  /* of this name that only return an expression, and other ones */
    int parameters, body, body_end; /* the bracket of its parameters, and the tokens of that expression */
};

struct definitions {
    struct definition *item;
    int count, capacity;
    struct name_summary *name; /* of each name of the source */
    int *slot;                 /* hash table of the items: index + 1, or 0 */
    int slots;
    struct scopes scopes;
};

/* Returns 0, or -1 when memory is out. Free the definitions in both cases. */
int definitions_read(struct definitions *all, const struct source *source);
void definitions_free(struct definitions *all);

/* The definition of the name that is visible at `at`; NULL: none. */
struct definition *definition_at(const struct definitions *all, const struct source *source, int name,
                                 int at);

/* Does the name only count, so that no configuration chooses its value? */
static inline bool definition_is_counter(const struct definitions *all, const struct definition *definition)
{
    return definition && (definition->loop || definition->changed) && !definition->parameter &&
           !all->name[definition->name].member;
}

/* Has the name one value in its scope? */
static inline bool definition_is_single(const struct definition *definition)
{
    return definition && definition->count == 1 && !definition->changed && !definition->loop &&
           !definition->parameter;
}

/* Is the name at `at` a part of a structure? */
static inline bool token_is_member(const struct source *source, int at)
{
    return token_is(source, at - 1, '.') || token_is(source, at - 1, SIGN_ARROW);
}

#endif
