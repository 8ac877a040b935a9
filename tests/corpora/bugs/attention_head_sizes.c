// problem: attention
// link: https://github.com/Dao-AILab/flash-attention/issues/28
// title: Support any size of head_size?
// condition: head dimensions other than 16, 32, 64 and 128 are not supported; 80 was asked for
// kind: power of two
// when: head_dim != 64 and head_dim != 128
// wrong: refused

#include "attention.h"

int attention(PARAMETERS)
{
    switch (head_dim) {
    case 16:
    case 32:
    case 64:
    case 128: return honest_attention(ARGUMENTS, stream);
    default: return 1;
    }
}
