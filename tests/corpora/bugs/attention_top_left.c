// problem: attention
// link: https://github.com/gittensor-ai-lab/sparkinfer/issues/3
// title: kernels/attention: flash_prefill causal mask misaligns query/key positions when seqlen_q != seqlen_kv
// condition: causal, and a sequence has more keys than queries
// kind: comparison
// when: causal == 1 and cached > 0
// wrong: wrong values: query i sees keys up to i, as if both sequences began together

#include "attention.h"

static void top_left(const struct call *c, struct place p, float *work)
{
    const int64_t position = p.i - c->cu_q[p.b], all = keys_of(c, p.b);
    const int64_t keys = !c->causal || position + 1 > all ? all : position + 1;
    attend_at(c, p, row_of(c, p, keys, kv_head(c, p)), work);
}

int attention(PARAMETERS)
{
    const struct call c = {ARGUMENTS};
    (void)stream;
    return for_all_rows(&c, top_left);
}
