/* paged_attention, the mathematics: out[b,h,:] = sum_t w_t v_t / sum_t w_t with w_t = exp(s_t - shift) and
 * s_t = q . k_t / sqrt(D), over the tokens t < seq_lens[b]. Token t is in page block_table[b][t / P], slot t
 * % P. attention_reference.h derives the allowed error. */

enum { PAGED_QUERY, PAGED_KV, PAGED_TABLE, PAGED_LENS, PAGED_OUT };
enum { PAGED_BATCH, PAGED_HEADS, PAGED_KV_HEADS, PAGED_DIM, PAGED_PAGE, PAGED_PAGES, PAGED_PER_SEQ };
enum { ATTENTION_QUERY = PAGED_QUERY, ATTENTION_KEY = PAGED_KV, ATTENTION_VALUE = PAGED_KV };

struct attention_place {
    int64_t b, kv_head;
};

#include "problems/attention_reference.h"

REF_FN int64_t ref_rows(const struct ref_context *c)
{
    return c->extent[PAGED_BATCH] * c->extent[PAGED_HEADS];
}

REF_FN int64_t ref_width(const struct ref_context *c)
{
    return c->extent[PAGED_DIM];
}

REF_FN int64_t attention_dim(const struct ref_context *c)
{
    return c->extent[PAGED_DIM];
}

REF_FN int64_t attention_capacity(const struct ref_context *c)
{
    return c->extent[PAGED_PER_SEQ] * c->extent[PAGED_PAGE];
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return (double)attention_capacity(c) * ((double)c->extent[PAGED_DIM] + 18);
}

REF_FN void attention_open(const struct ref_context *c, int64_t row, struct ref_state *state)
{
    const int64_t heads = c->extent[PAGED_HEADS];
    state->place.b = row / heads;
    state->place.kv_head = row % heads / (heads / c->extent[PAGED_KV_HEADS]);
    state->length = REF_I32(c, PAGED_LENS, state->place.b);
}

/* The value of a token follows its key, D elements later. */
REF_FN int64_t attention_key(const struct ref_context *c, const struct ref_state *state, int64_t t)
{
    const int64_t size = c->extent[PAGED_PAGE];
    const int64_t page = REF_I32(c, PAGED_TABLE, state->place.b * c->extent[PAGED_PER_SEQ] + t / size);
    return ((page * size + t % size) * c->extent[PAGED_KV_HEADS] + state->place.kv_head) * 2 *
           c->extent[PAGED_DIM];
}

REF_FN int64_t attention_value(const struct ref_context *c, int64_t key)
{
    return key + c->extent[PAGED_DIM];
}

/* Scores are divided by sqrt(D). */
REF_FN num attention_factor(const struct ref_context *c)
{
    return num_sqrt(num_of((double)c->extent[PAGED_DIM]));
}

REF_FN num attention_score(num dot, num factor)
{
    return num_div(dot, factor);
}

#ifdef REF_TOUCH
#define REF_TOUCHES

/* The tokens of a sequence are scattered over the cache; the key and value of a token are adjacent. */
REF_FN void ref_touch(const struct ref_context *c, int64_t row)
{
    struct ref_state state;
    attention_open(c, row, &state);
    for (int64_t t = REF_LANE; t < state.length; t += REF_LANES)
        REF_TOUCH(REF_BF16, c, PAGED_KV, attention_key(c, &state, t), 2 * c->extent[PAGED_DIM]);
}

#endif

REF_FN void ref_elements(const struct ref_context *c, int64_t row, int64_t first, int64_t count,
                         const num *scratch, const struct ref_state *state, struct ref_element *e)
{
    (void)row;
    attention_elements(c, first, count, scratch, state, e);
}

REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    return attention_error(c, a, e);
}
