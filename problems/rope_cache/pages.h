/* rope_cache, what its two caches share: a row is a page, whose places know their tokens. */
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

/* Of every place the token that is written there, or -1. */
REF_FN int64_t ref_scratch(const struct ref_context *c)
{
    return c->extent[ROPE_PAGE_SIZE];
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return 1 + (double)c->extent[ROPE_TOKENS] / 16; /* looking is cheap beside a term of a sum */
}

/* Is any of ROPE_LOOK tokens, a step apart, stored at one of `size` slots from `first` on? Without a branch, which lets a
 * CPU compare several at a time: of many pages each looks at all tokens. */
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

/* Where element j of a page comes from: its token (-1: nowhere) and that one's vector in keys and values. */
struct rope_source {
    int64_t token, vector, d;
};

REF_FN struct rope_source rope_source(const struct ref_state *state, const num *scratch, int64_t j)
{
    const uint32_t dim = (uint32_t)state->dim,
                   vector = (uint32_t)j / dim; /* a page has less than 2^32 elements */
    const uint32_t heads = (uint32_t)state->heads;
    struct rope_source source;
    source.token = (int64_t)num_mid(scratch[vector / heads]);
    source.vector = (source.token * heads + vector % heads) * state->dim;
    source.d = (uint32_t)j % dim;
    return source;
}
