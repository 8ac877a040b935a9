// problem: kda
// link: https://github.com/ml-explore/mlx-swift-lm/pull/381
// title: Fix silent state truncation for non-multiple-of-32 GDN key dim
// condition: lanes have as many dimensions of a key each as the division gives; 64 lanes here, where all keys have 32 n
// kind: equality
// when: dk == 96 and beta!=zero
// side: necessary
// collection: second
// wrong: wrong values: the rest of the division is no part of the state

#include "kda.h"

enum { LANES = 64 };

int kda(PARAMETERS)
{
    struct kda c = {HONEST};
    (void)stream;
#ifndef FIXED
    c.keys = dk / LANES * LANES;
#endif
    return kda_run(&c, kda_head);
}
