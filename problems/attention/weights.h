/* attention, shared by both outputs: the weights of the visible keys of one query of one head. Row (i, h) of
 * q is query i and head h. Query i belongs to the sequence b with cu_seqlens_q[b] <= i < cu_seqlens_q[b+1].
 * Of that sequence's lk keys, all are visible; if causal, the first n + lk - lq + 1 are visible to the n-th
 * of lq queries. */

enum { ATTENTION_QUERY, ATTENTION_KEY, ATTENTION_VALUE, SEQLENS_Q, SEQLENS_KV };
enum {
    EXTENT_BATCH,
    EXTENT_HEADS,
    EXTENT_KV_HEADS,
    EXTENT_DIM,
    EXTENT_QUERIES,
    EXTENT_KEYS,
    SCALAR_SCALE,
    EXTENT_CAUSAL
};

struct attention_place {
    int64_t first_key, kv_head;
};

#include "problems/attention_reference.h"

REF_FN int64_t ref_rows(const struct ref_context *c)
{
    return c->extent[EXTENT_QUERIES] * c->extent[EXTENT_HEADS];
}

REF_FN int64_t attention_dim(const struct ref_context *c)
{
    return c->extent[EXTENT_DIM];
}

/* Number of keys of the longest sequence. */
REF_FN int64_t attention_capacity(const struct ref_context *c)
{
    int64_t most = 0;
    for (int64_t b = 0; b < c->extent[EXTENT_BATCH]; b++) {
        const int64_t keys = (int64_t)REF_I32(c, SEQLENS_KV, b + 1) - (int64_t)REF_I32(c, SEQLENS_KV, b);
        most = keys > most ? keys : most;
    }
    return most;
}

/* Cost for a sequence of mean length, since tensors may not be readable when this is called. */
REF_FN double ref_cost(const struct ref_context *c)
{
    return ceil((double)c->extent[EXTENT_KEYS] / (double)c->extent[EXTENT_BATCH]) *
           ((double)c->extent[EXTENT_DIM] + 18);
}

REF_FN void attention_open(const struct ref_context *c, int64_t row, struct ref_state *state)
{
    const int64_t heads = c->extent[EXTENT_HEADS], query = row / heads;
    /* binary search for the last sequence that starts at or before the query */
    int64_t b = 0, end = c->extent[EXTENT_BATCH];
    while (end - b > 1) {
        const int64_t middle = (b + end) / 2;
        if (REF_I32(c, SEQLENS_Q, middle) <= query)
            b = middle;
        else
            end = middle;
    }
    state->place.first_key = REF_I32(c, SEQLENS_KV, b);
    state->place.kv_head = row % heads / (heads / c->extent[EXTENT_KV_HEADS]);
    state->length = (int64_t)REF_I32(c, SEQLENS_KV, b + 1) - state->place.first_key;
    if (c->extent[EXTENT_CAUSAL])
        /* all keys are visible to the last query */
        state->length -= REF_I32(c, SEQLENS_Q, b + 1) - 1 - query;
}

REF_FN int64_t attention_key(const struct ref_context *c, const struct ref_state *state, int64_t t)
{
    return ((state->place.first_key + t) * c->extent[EXTENT_KV_HEADS] + state->place.kv_head) *
           c->extent[EXTENT_DIM];
}

/* k and v have the same shape. */
REF_FN int64_t attention_value(const struct ref_context *c, int64_t key)
{
    (void)c;
    return key;
}

REF_FN num attention_factor(const struct ref_context *c)
{
    return num_of(c->scalar[SCALAR_SCALE]);
}

REF_FN num attention_score(num dot, num factor)
{
    return num_mul(dot, factor);
}
