// problem: kda
// link: https://github.com/fla-org/flash-linear-attention/issues/906
// title: [Bug] gate_output_correction skips the tail chunk for T > 65536
// condition: output diverges from token 65537 on, T <= 65536 matches; sized down to 256
// kind: threshold
// when: t > 256
// wrong: unwritten: the mask of the first chunk holds for all

#include "kda.h"

enum { BLOCK_TOKENS = 256 };

int kda(PARAMETERS)
{
    struct kda c = {HONEST};
    (void)stream;
    c.tokens = t < BLOCK_TOKENS ? t : BLOCK_TOKENS;
    return kda_run(&c, kda_head);
}
