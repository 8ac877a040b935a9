#include "philox.h"

/* Multipliers and Weyl constants of Philox4x32 (Salmon et al. 2011, table 2). */
static void philox_round(uint32_t c[4], uint32_t k0, uint32_t k1)
{
    const uint64_t p0 = (uint64_t)0xD2511F53u * c[0], p1 = (uint64_t)0xCD9E8D57u * c[2];
    const uint32_t c1 = c[1], c3 = c[3];
    c[0] = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c[1] = (uint32_t)p1;
    c[2] = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c[3] = (uint32_t)p0;
}

void philox_words_portable(struct philox_key key, uint64_t first, uint64_t count, uint32_t *words)
{
    for (uint64_t i = 0; i < count; i++) {
        uint32_t *c = words + 4 * i;
        uint32_t k0 = (uint32_t)key.seed, k1 = (uint32_t)(key.seed >> 32);
        c[0] = (uint32_t)(first + i);
        c[1] = (uint32_t)((first + i) >> 32);
        c[2] = (uint32_t)key.high;
        c[3] = (uint32_t)(key.high >> 32);
        for (int round = 0; round < 10; round++) {
            philox_round(c, k0, k1);
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
    }
}

#ifndef HAVE_CUDA
void philox_words(struct philox_key key, uint64_t first, uint64_t count, uint32_t *words)
{
    philox_words_portable(key, first, count, words);
}

const char *philox_source(void)
{
    return "portable";
}
#endif
