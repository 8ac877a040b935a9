// problem: attention
// link: https://github.com/thu-ml/SageAttention/issues/26
// title: got result error when seq_length of q not equals to k/v
// condition: sequences with other numbers of keys than of queries: keys are addressed by the strides of the queries
// kind: comparison
// when: batch > 1 and kv!=same
// side: necessary
// collection: second
// wrong: wrong values: a sequence's keys begin where as many queries lie in front

#include "attention.h"

static void from_queries(const struct call *c, struct place p, float *work)
{
    const int64_t row = c->kv_heads * c->head_dim;
    struct row r = row_of(c, p, visible(c, p), kv_head(c, p));
#ifndef FIXED
    int64_t first = c->cu_q[p.b];
    if (first > c->total_kv - r.keys) /* keeps the read within the keys */
        first = c->total_kv - r.keys;
    r.k += (first - c->cu_kv[p.b]) * row;
    r.v += (first - c->cu_kv[p.b]) * row;
#endif
    (void)row;
    attend_at(c, p, r, work);
}

int attention(PARAMETERS)
{
    const struct call c = {ARGUMENTS};
    (void)stream;
    return for_all_rows(&c, from_queries);
}
