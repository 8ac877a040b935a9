// problem: attention
// link: https://github.com/ROCm/rocm-libraries/pull/10999
// title: feat(rocke/gfx950): add causal_bottom_right to the dense attention kernel
// condition: causal, ragged, and a sequence has another number of keys beyond its queries than the greatest numbers of both: the diagonal is made of these
// kind: comparison between sizes
// when: causal == 1 and batch > 1 and max_len > 1 and kv!=same and lengths in {ragged, empty} or causal == 1 and batch > 1 and max_len > 1 and kv=cross and lengths=one
// side: necessary
// collection: third
// wrong: wrong values: a query sees keys behind its last one, or too few

#include "attention.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Keys that the first query of any sequence sees. */
static int64_t diagonal_of(const struct call *c, struct place p)
{
    int64_t keys = 0, queries = 0;
#ifdef FIXED
    keys = keys_of(c, p.b);
    queries = queries_of(c, p.b);
#else
    (void)p;
    for (int64_t b = 0; b < c->batch; b++) {
        keys = keys_of(c, b) > keys ? keys_of(c, b) : keys;
        queries = queries_of(c, b) > queries ? queries_of(c, b) : queries;
    }
#endif
    return keys - queries + 1;
}

static void below_diagonal(const struct call *c, struct place p, float *work)
{
    const int64_t all = keys_of(c, p.b), seen = diagonal_of(c, p) + p.i - c->cu_q[p.b];
    attend_at(c, p, row_of(c, p, c->causal ? least(seen, all) : all, kv_head(c, p)), work);
}

int attention(PARAMETERS)
{
    const struct call c = {ARGUMENTS};
    (void)stream;
    return for_all_rows(&c, below_diagonal);
}
