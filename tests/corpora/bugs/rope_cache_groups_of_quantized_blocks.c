// problem: rope_cache
// link: https://github.com/TheTom/turboquant_plus/issues/29
// title: Post-commit review: block size 32 breaks turbo4 and non-128 head dims
// condition: a row of the cache has blocks of 32, and their number is no multiple of 4: 192 elements are 6 blocks, of which 4 are stored; rows that are no whole blocks are copied
// kind: alignment
// when: kv_heads * head_dim % 32 == 0 and kv_heads * head_dim % 128 != 0
// side: necessary
// collection: fourth
// wrong: unwritten: the last blocks of a row

#include "rope.h"

enum { QK = 32, BLOCKS_OF_A_GROUP = 4, WIDEST = 256 };

/* Groups of blocks that set_rows() launches for a row of ne00 elements. */
static int64_t groups_of(int64_t ne00)
{
    const int64_t nk0 = ne00 / QK;
#ifdef FIXED
    return (nk0 + BLOCKS_OF_A_GROUP - 1) / BLOCKS_OF_A_GROUP;
#else
    return nk0 / BLOCKS_OF_A_GROUP;
#endif
}

static void set_block(bf16 *dst, const bf16 *src, int64_t ne00, int64_t block)
{
    if (block * QK < ne00)
        memcpy(dst + block * QK, src + block * QK, QK * sizeof *dst);
}

static void set_row(bf16 *dst, const bf16 *src, int64_t ne00)
{
    if (ne00 % QK != 0) {
        memcpy(dst, src, (size_t)ne00 * sizeof *dst);
        return;
    }
    for (int64_t group = 0; group < groups_of(ne00); group++)
        for (int64_t block = 0; block < BLOCKS_OF_A_GROUP; block++)
            set_block(dst, src, ne00, group * BLOCKS_OF_A_GROUP + block);
}

int rope_cache(PARAMETERS)
{
    const struct rope r = {ARGUMENTS};
    const int64_t row = kv_heads * head_dim;
    bf16 turned[128 * WIDEST]; /* keys of a token: at most 128 heads */
    (void)stream;
    for (int64_t t = 0; t < tokens; t++) {
        const float *angle = cos_sin + positions[t] * rot_dim;
        for (int64_t h = 0; h < heads; h++) {
            bf16 *q = query + (t * heads + h) * head_dim;
            rotate(&r, q, q, angle);
        }
        memcpy(turned, key + t * row, (size_t)row * sizeof *turned);
        for (int64_t h = 0; h < kv_heads; h++)
            rotate(&r, key + t * row + h * head_dim, turned + h * head_dim, angle);
        if (slots[t] < 0)
            continue;
        set_row(key_cache + slots[t] * row, turned, row);
        set_row(value_cache + slots[t] * row, value + t * row, row);
    }
    return 0;
}
