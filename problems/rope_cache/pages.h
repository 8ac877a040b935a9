/* rope_cache, shared by both caches: a row is a page, and its scratch has the token of each slot. */
#include "problems/rope_cache/rotation.h"

struct ref_state {
    int64_t dim, heads;
};

REF_FN int64_t ref_rows(const struct ref_context *c)
{
    return c->extent[ROPE_PAGES];
}

REF_FN int64_t ref_width(const struct ref_context *c)
{
    return c->extent[ROPE_PAGE_SIZE] * c->extent[ROPE_KV_HEADS] * c->extent[ROPE_DIM];
}

/* The token that is written to each slot, or -1. */
REF_FN int64_t ref_scratch(const struct ref_context *c)
{
    return c->extent[ROPE_PAGE_SIZE];
}

REF_FN double ref_cost(const struct ref_context *c)
{
    /* looking up a token is cheap compared with a term of a sum */
    return 1 + (double)c->extent[ROPE_TOKENS] / 16;
}

/* Is any of ROPE_LOOK tokens, a step apart, stored in one of `size` slots from `first` on? It has no branch,
 * so that a CPU compares several at once: every page looks at all tokens. */
enum { ROPE_LOOK = 32 };

REF_FN bool rope_any(const struct ref_context *c, int64_t token, uint64_t first, uint64_t size)
{
    uint64_t any = 0;
    for (int64_t i = 0; i < ROPE_LOOK; i++)
        any |= (uint64_t)REF_I64(c, ROPE_SLOTS, token + i * REF_LANES) - first < size;
    return any != 0;
}

REF_FN void rope_note(const struct ref_context *c, int64_t token, uint64_t first, uint64_t size, num *scratch)
{
    const uint64_t place = (uint64_t)REF_I64(c, ROPE_SLOTS, token) - first;
    if (place < size)
        scratch[place] = num_of((double)token);
}

REF_FN void ref_prepare(const struct ref_context *c, int64_t row, num *scratch, struct ref_state *state)
{
    const int64_t size = c->extent[ROPE_PAGE_SIZE], first = row * size, tokens = c->extent[ROPE_TOKENS];
    int64_t token = REF_LANE;
    for (int64_t i = REF_LANE; i < size; i += REF_LANES)
        scratch[i] = num_of(-1);
    ref_barrier();
    for (; token + (ROPE_LOOK - 1) * REF_LANES < tokens; token += ROPE_LOOK * REF_LANES)
        if (rope_any(c, token, (uint64_t)first, (uint64_t)size))
            for (int64_t i = 0; i < ROPE_LOOK; i++)
                rope_note(c, token + i * REF_LANES, (uint64_t)first, (uint64_t)size, scratch);
    for (; token < tokens; token += REF_LANES)
        rope_note(c, token, (uint64_t)first, (uint64_t)size, scratch);
    ref_barrier();
    state->dim = c->extent[ROPE_DIM];
    state->heads = c->extent[ROPE_KV_HEADS];
}

/* The source of element j of a page: its token (-1: none) and that token's vector in keys and values. */
struct rope_source {
    int64_t token, vector, d;
};

REF_FN struct rope_source rope_source(const struct ref_state *state, const num *scratch, int64_t j)
{
    const uint32_t dim = (uint32_t)state->dim,
                   vector = (uint32_t)j / dim; /* a page has fewer than 2^32 elements */
    const uint32_t heads = (uint32_t)state->heads;
    struct rope_source source;
    source.token = (int64_t)num_mid(scratch[vector / heads]);
    source.vector = (source.token * heads + vector % heads) * state->dim;
    source.d = (uint32_t)j % dim;
    return source;
}
