// problem: kda
// link: https://github.com/fla-org/flash-linear-attention/issues/88
// title: [Bug]: Triton Compiler Error when Sequence Length <= 8
// condition: a compiler error with sequences of 8 and less, in chunk mode: the least block of a product is 16
// kind: small size
// when: t <= 8
// wrong: refused

#include "kda.h"

int kda(PARAMETERS)
{
    struct kda c = {HONEST};
    (void)stream;
    int64_t block = 64;
    while (block / 2 >= t)
        block /= 2;
    return block < 16 ? 1 : kda_run(&c, kda_head);
}
