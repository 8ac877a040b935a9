// problem: kda
// link: https://github.com/flashserve/flash-linear-attention-npu/pull/477
// title: perf: fuse recurrent gated delta rule into regbase vf
// condition: only Dk = 128 is covered: two blocks of 64 are always read, less reads past the row, of more the rest is left out
// kind: equality
// when: dk != 128 and beta!=zero
// side: necessary
// wrong: wrong values

#include "kda.h"

int kda(PARAMETERS)
{
    struct kda c = {HONEST};
    (void)stream;
    c.keys = 128; /* dk is 64, 96, 128 or 192; a read past the last row is a fault of its own */
    if (dk < 128) {
        const int64_t size = batch * t * heads * dk;
        bf16 *queries = calloc((size_t)size + 128, sizeof *queries),
             *keys = calloc((size_t)size + 128, sizeof *keys);
        float *decays = calloc((size_t)size + 128, sizeof *decays);
        int failed = !queries || !keys || !decays;
        if (!failed) {
            memcpy(queries, q, (size_t)size * sizeof *queries);
            memcpy(keys, k, (size_t)size * sizeof *keys);
            memcpy(decays, g, (size_t)size * sizeof *decays);
            c.q = queries;
            c.k = keys;
            c.g = decays;
            failed = kda_run(&c, kda_head);
        }
        free(queries);
        free(keys);
        free(decays);
        return failed;
    }
    return kda_run(&c, kda_head);
}
