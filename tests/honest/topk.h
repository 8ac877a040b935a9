/* topk as a program with switches, for topk.c and topk.cu. A row has two steps. The first one leaves the best
 * of each tile in front of the tile's entries. The second one takes all of these together, or one tile after
 * another, and orders the k best. */
#ifndef UNSEEN_HONEST_TOPK_H
#define UNSEEN_HONEST_TOPK_H

#include "topk_select.h"

/* One row; entries has n places. */
struct row {
    const float *x;
    int64_t n, k, number; /* of the row */
    struct entry *entries;
    struct how how;
};

HONEST_FN bool row_is(const struct row *r, enum mutant m)
{
    return r->how.mutant == m;
}

HONEST_FN int64_t row_tile_size(const struct row *r)
{
    const int64_t tiles[] = {r->n, 64, 1000, 4096};
    const int64_t size = tiles[r->how.choice[TILE]],
                  most = how_chose(&r->how, SELECT, SELECT_SORT) ? 4096 : r->n;
    switch (r->how.mutant) {
    case TILE_TOP_8: return 512;
    case TILE_TOP_32: return 1024;
    case BUFFER_4096:
    case ABOVE_FIRST_TILE: return 4096;
    case TILE_TWICE: return 1000;
    default: return size < most ? size : most;
    }
}

HONEST_FN int64_t row_tiles(const struct row *r)
{
    const int64_t size = row_tile_size(r);
    return (r->n + size - 1) / size;
}

/* The most entries that a tile may contribute. A fault limits them only where k entries remain. */
HONEST_FN int64_t row_share(const struct row *r)
{
    const int64_t most = row_is(r, TILE_TOP_8) ? 8 : row_is(r, TILE_TOP_32) ? 32 : r->n;
    if (row_is(r, K_LESS_ONE) && r->k < r->n)
        return r->k + 1;
    return r->k > most && row_tiles(r) * most >= r->k ? most : r->k;
}

/* A column that is not looked at counts as the least of all. */
HONEST_FN bool row_overlooks(const struct row *r, int64_t j)
{
    const int64_t n = r->n;
    switch (r->how.mutant) {
    case DROPS_LAST: return j == n - 1 && n > 1;
    case DROPS_FIRST: return j == 0 && n > 1;
    case DROPS_TAIL_4: return n >= 4 && j >= n / 4 * 4;
    case DROPS_TAIL_32: return n >= 32 && j >= n / 32 * 32;
    case DROPS_TAIL_OF_LONG: return n > 65536 && j >= n / 1024 * 1024;
    case DROPS_TILE_EDGE: return j % 1024 == 1023;
    case DROPS_INFINITIES: return isinf(r->x[j]);
    default: return false;
    }
}

HONEST_FN struct entry row_entry(const struct row *r, int64_t j)
{
    struct entry e;
    e.key = row_overlooks(r, j) ? 0 : key_of(&r->how, r->x[j]);
    e.column = (int32_t)j;
    return e;
}

/* The best of tile t in front of its entries; returns how many. */
HONEST_FN int64_t row_tile(const struct row *r, int64_t t)
{
    const int64_t size = row_tile_size(r), first = t * size;
    const int64_t end = first + size < r->n ? first + size : r->n, share = row_share(r);
    for (int64_t j = first; j < end; j++)
        r->entries[j] = row_entry(r, j);
    if (row_is(r, TILE_TWICE) && first > 0)
        r->entries[end - 1] = row_entry(r, first - 1);
    select_entries(&r->how, r->entries + first, end - first, share);
    return share < end - first ? share : end - first;
}

/* A key that at least k entries of the first tile reach; 0 where it has not so many. */
HONEST_FN uint32_t row_threshold(const struct row *r)
{
    const int64_t size = row_tile_size(r);
    uint32_t least = UINT32_MAX;
    if (size < r->k || r->n <= size)
        return 0;
    for (int64_t i = 0; i < r->k; i++)
        least = r->entries[i].key < least ? r->entries[i].key : least;
    return least;
}

/* Whether an entry of a later tile may be among the k. Equals of the threshold are not needed, since the
 * first tile has as many. */
HONEST_FN bool row_passes(const struct row *r, struct entry e, uint32_t threshold)
{
    if (threshold == 0)
        return true;
    if (row_is(r, ABOVE_FIRST_TILE) || how_chose(&r->how, FILTER, FILTER_STRICT))
        return e.key > threshold;
    return e.key >= threshold || !(how_chose(&r->how, FILTER, FILTER_YES) || row_is(r, BUFFER_4096));
}

/* The first tile's best that stay. */
HONEST_FN int64_t row_hold_first(const struct row *r, int64_t held, uint32_t threshold)
{
    int64_t kept = 0;
    if (!row_is(r, ABOVE_FIRST_TILE))
        return held;
    for (int64_t i = 0; i < held; i++)
        if (r->entries[i].key > threshold)
            r->entries[kept++] = r->entries[i];
    return kept > 0 ? kept : 1;
}

/* Moves the tiles' best together, in front of the row's entries, and selects the row's among them: at the
 * end, or after each tile. */
HONEST_FN int64_t row_merge(const struct row *r)
{
    const int64_t size = row_tile_size(r), tiles = row_tiles(r), share = row_share(r);
    const int64_t most = row_is(r, K_LESS_ONE) ? share : r->k;
    const uint32_t threshold = row_threshold(r);
    int64_t held = share < size ? share : size;
    held = row_hold_first(r, held < r->n ? held : r->n, threshold);
    for (int64_t t = 1; t < tiles; t++) {
        const int64_t first = t * size, left = r->n - first < size ? r->n - first : size;
        for (int64_t i = 0; i < share && i < left; i++)
            if (row_passes(r, r->entries[first + i], threshold) && !(row_is(r, BUFFER_4096) && held >= 4096))
                r->entries[held++] = r->entries[first + i];
        if (how_chose(&r->how, MERGE, MERGE_ONE_BY_ONE) && held > most) {
            select_entries(&r->how, r->entries, held, most);
            held = most;
        }
    }
    if (held > most) {
        select_entries(&r->how, r->entries, held, most);
        held = most;
    }
    return held;
}

/* --- in order --- */

HONEST_FN void row_spoil_order(const struct row *r, struct entry *e, int64_t held)
{
    int64_t kept = r->k, power = 1;
    while (2 * power <= r->k)
        power *= 2;
    if (row_is(r, K_POWER_OF_TWO))
        kept = power;
    if (row_is(r, K_AT_MOST_1024) && kept > 1024)
        kept = 1024;
    if (row_is(r, K_LESS_ONE) && held > r->k)
        e[r->k - 1] = e[r->k];
    for (int64_t j = kept < held ? kept : held; j < r->k; j++)
        e[j] = e[j - 1];
    if (row_is(r, LAST_TWO_SWAPPED) && r->k > 1)
        entry_swap(&e[r->k - 2], &e[r->k - 1]);
    for (int64_t j = 0; row_is(r, ONE_SWAP_IN_1000) && j + 1 < r->k; j++)
        if ((r->number * r->k + j) % 1000 == 777)
            entry_swap(&e[j], &e[j + 1]);
    for (int64_t j = 0; row_is(r, ZEROS_CROSSED) && j + 1 < r->k; j += 2)
        if (r->x[e[j].column] == r->x[e[j + 1].column])
            entry_swap(&e[j], &e[j + 1]);
    for (int64_t j = 0; row_is(r, ASCENDING) && j < r->k / 2; j++)
        entry_swap(&e[j], &e[r->k - 1 - j]);
}

HONEST_FN void row_sort(const struct row *r, int64_t held)
{
    struct entry *e = r->entries;
    if (row_is(r, SORTED_IN_TILES)) {
        for (int64_t at = 0; at < held; at += 256)
            sort_entries(&r->how, e + at, held - at < 256 ? held - at : 256);
    } else {
        sort_entries(&r->how, e, row_is(r, UNSORTED_TAIL) && held > 32 ? 32 : held);
    }
    row_spoil_order(r, e, held);
}

HONEST_FN int64_t row_index(const struct row *r, int64_t column)
{
    switch (r->how.mutant) {
    case INDEX_OF_TILE: return column % 4096;
    case INDEX_WITH_ROW: return r->number * r->n + column;
    case INDEX_OF_16_BITS: return column & 0xffff;
    case INDEX_ROUNDED: return (int64_t)to_tf32((float)column);
    case INDEX_NEXT: return column + 1;
    case FIRST_OF_EQUALS:
        for (int64_t j = 0; j < column; j++)
            if (r->x[j] == r->x[column])
                return j;
        return column;
    default: return column;
    }
}

/* The sign of the value that takes a wrong index: crossed zeros are written in the order of the others. */
HONEST_FN float row_value(const struct row *r, int64_t j)
{
    const int64_t other = row_is(r, ZEROS_CROSSED) ? j ^ 1 : j;
    const float x = r->x[r->entries[other < r->k ? other : j].column], own = r->x[r->entries[j].column];
    switch (r->how.mutant) {
    case POSITIVE_ZERO: return own == 0 ? 0 : own;
    case BF16_VALUES: return to_bf16(own);
    case TF32_VALUES: return to_tf32(own);
    default: return x == own ? x : own;
    }
}

/* Lists that start with something that is no column keep it where nothing greater comes. */
HONEST_FN bool row_sentinel(const struct row *r, float value, float *sentinel)
{
    *sentinel = row_is(r, ZERO_SENTINEL) ? 0 : -0x1.fffffep127f;
    return (row_is(r, ZERO_SENTINEL) || row_is(r, FINITE_SENTINEL)) && value < *sentinel;
}

/* The row's outputs, once its entries are in order. */
HONEST_FN void row_write(const struct row *r, float *values, int64_t *indices)
{
    for (int64_t j = 0; j < r->k; j++) {
        float sentinel;
        const bool lost = row_sentinel(r, r->x[r->entries[j].column], &sentinel);
        values[j] = lost ? sentinel : row_value(r, j);
        indices[j] = lost ? 0 : row_index(r, r->entries[j].column);
    }
}

#endif
