/* Names that a text defines once, with the tokens of their values. */
#ifndef UNSEEN_SOURCE_DEFINITIONS_H
#define UNSEEN_SOURCE_DEFINITIONS_H

#include "source_tokens.h"

struct definition {
    int count;        /* of different values */
    int begin, limit; /* the value's first token, and where it ends at the latest; equal: it is `offset` */
    int64_t offset;   /* is added: of enumerators without a value of their own */
    bool changed;     /* by ++, +=, or by way of its address */
    bool loop;        /* counts a loop */
    bool parameter;   /* of a function or a template, without a default */
    bool member;      /* of a structure */
    bool constant;    /* its value is the number `value` */
    int64_t value;
    bool active;                    /* its value is being read */
    int functions;                  /* of this name that only return an expression, and other ones */
    int parameters, body, body_end; /* the bracket of its parameters, and the tokens of that expression */
};

/* One for each name of the source; NULL when memory is out. Free it. `constant` is left false. */
struct definition *definitions_read(const struct source *source);

/* Does the name only count, so that no configuration chooses its value? */
static inline bool definition_is_counter(const struct definition *definition)
{
    return (definition->loop || definition->changed) && !definition->parameter && !definition->member;
}

/* Has the name one value, wherever it stands? */
static inline bool definition_is_single(const struct definition *definition)
{
    return definition->count == 1 && !definition->changed && !definition->loop && !definition->parameter;
}

#endif
