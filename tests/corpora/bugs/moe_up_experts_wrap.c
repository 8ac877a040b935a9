// problem: moe_up
// link: https://github.com/ModelTC/LightLLM/pull/1369
// title: improve moe align
// condition: experts in blocks of 4, taken modulo their number: where that is no multiple of 4 the first ones come twice
// kind: alignment
// when: experts % 4 != 0 and experts > 1 and tokens > 1
// side: necessary
// wrong: wrong values: tokens of an expert that comes twice are counted twice, and go on into the next one's rows

#include "moe.h"

enum { BLOCK = 4 };

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up, bf16 *out,
           int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts, void *stream)
{
    const struct moe m =
        moe_of(hidden, expert_offsets, w_gate, w_up, out, tokens, hidden_dim, inter_dim, experts);
    int64_t *count = calloc((size_t)experts, sizeof *count);
    (void)stream;
    if (!count)
        return 1;
    for (int64_t block = 0; block < experts; block += BLOCK)
        for (int64_t i = 0; i < BLOCK; i++) {
            const int64_t e = (block + i) % experts;
            count[e] += expert_offsets[e + 1] - expert_offsets[e];
        }
    for (int64_t i = 0; i < experts; i++) {
        const int64_t e = experts - 1 - i, first = expert_offsets[e];
        moe_rows(&m, e, first, first + count[e] < tokens ? first + count[e] : tokens);
    }
    free(count);
    return 0;
}
