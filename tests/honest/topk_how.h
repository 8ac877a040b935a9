/* Parts of programs for topk: the switches, the mutants, keys and the order among them. */
#ifndef UNSEEN_HONEST_TOPK_HOW_H
#define UNSEEN_HONEST_TOPK_HOW_H

#include "arithmetic.h"
#include "switches.h"

enum { SELECT, TILE, MERGE, KEY, TIES, SCAN, DIGIT, FILTER, FINAL, SWITCHES };

enum { SELECT_HEAP, SELECT_RADIX, SELECT_BISECTION, SELECT_QUICK, SELECT_SORT };
enum { MERGE_AT_ONCE, MERGE_ONE_BY_ONE };
enum { KEY_FLOAT, KEY_BITS, KEY_SIGNED_ZERO };
enum { TIES_LOW, TIES_HIGH, TIES_MIXED };
enum { SCAN_FORWARD, SCAN_BACKWARD };
enum { FILTER_NO, FILTER_YES, FILTER_STRICT };
enum { FINAL_SHELL, FINAL_BITONIC, FINAL_HEAP };

#define TOPK_SWITCHES                                                                                        \
    {"select", {"heap", "radix", "bisection", "quick", "sort"}, {0}},                                        \
        {"tile", {"row", "64", "1000", "4096"}, {0}}, {"merge", {"at_once", "one_by_one"}, {0}},             \
        {"key", {"float", "bits", "signed_zero"}, {0}}, {"ties", {"low", "high", "mixed"}, {0}},             \
        {"scan", {"forward", "backward"}, {0}}, {"digit", {"8", "4", "11"}, {0}},                            \
        {"filter", {"no", "yes", "strict"}, {0}}, {"final", {"shell", "bitonic", "heap"}, {0}},              \
    {                                                                                                        \
        NULL, {NULL},                                                                                        \
        {                                                                                                    \
            0                                                                                                \
        }                                                                                                    \
    }

enum mutant {
    HONEST,
    DROPS_LAST,
    DROPS_FIRST,
    DROPS_TAIL_4,
    DROPS_TAIL_32,
    DROPS_TAIL_OF_LONG,
    DROPS_TILE_EDGE,
    KEYS_LESS_1,
    KEYS_LESS_2,
    KEYS_LESS_3,
    KEYS_LESS_5,
    KEYS_LESS_8,
    TF32_KEYS,
    BF16_KEYS,
    FP16_KEYS,
    FLUSHED_KEYS,
    SIGNED_KEYS,
    UNSIGNED_KEYS,
    MAGNITUDES,
    POSITIVE_ZERO,
    FIRST_OF_EQUALS,
    EQUALS_32,
    ZEROS_CROSSED,
    UNSORTED_TAIL,
    SORTED_IN_TILES,
    ASCENDING,
    K_POWER_OF_TWO,
    K_AT_MOST_1024,
    K_LESS_ONE,
    TILE_TOP_8,
    TILE_TOP_32,
    BUFFER_4096,
    ABOVE_FIRST_TILE,
    DROPS_INFINITIES,
    FINITE_SENTINEL,
    ZERO_SENTINEL,
    TILE_TWICE,
    INDEX_OF_TILE,
    INDEX_WITH_ROW,
    INDEX_OF_16_BITS,
    INDEX_ROUNDED,
    INDEX_NEXT,
    BF16_VALUES,
    TF32_VALUES,
    BITONIC_UNPADDED,
    ONE_SWAP_IN_1000,
    LAST_TWO_SWAPPED
};

/* In the order of the enumeration. */
#define TOPK_MUTANTS                                                                                         \
    {"drops_last", "the last column of a row is not looked at", NULL},                                       \
        {"drops_first", "the first column is not looked at", NULL},                                          \
        {"drops_tail_4", "the last n % 4 columns are not looked at", NULL},                                  \
        {"drops_tail_32", "the last n % 32 columns are not looked at", NULL},                                \
        {"drops_tail_of_long", "beyond 65536 columns the last n % 1024 are not looked at", NULL},            \
        {"drops_tile_edge", "the last column of every tile of 1024 is not looked at", NULL},                 \
        {"keys_less_1", "keys without their last bit", NULL},                                                \
        {"keys_less_2", "keys without their last 2 bits", NULL},                                             \
        {"keys_less_3", "keys without their last 3 bits", NULL},                                             \
        {"keys_less_5", "keys without their last 5 bits", NULL},                                             \
        {"keys_less_8", "keys without their last 8 bits: a radix pass too few", NULL},                       \
        {"tf32_keys", "compared in TF32", NULL}, {"bf16_keys", "compared in bf16", NULL},                    \
        {"fp16_keys", "compared in fp16", NULL}, {"flushed_keys", "compared with subnormals flushed", NULL}, \
        {"signed_keys", "bits compared as signed integers, negatives the wrong way round", NULL},            \
        {"unsigned_keys", "bits compared as unsigned integers", NULL},                                       \
        {"magnitudes", "magnitudes compared", NULL}, {"positive_zero", "-0 written as +0", NULL},            \
        {"first_of_equals", "the index is that of the first equal value", NULL},                             \
        {"equals_32", "at most 32 equals of the k-th, the last again and again", NULL},                      \
        {"zeros_crossed", "of neighbouring equals each has the other's index", NULL},                        \
        {"unsorted_tail", "sorted are the first 32 only", NULL},                                             \
        {"sorted_in_tiles", "lists of 256 sorted, not merged", NULL}, {"ascending", "least first", NULL},    \
        {"k_power_of_two", "k cut to a power of two, the rest repeats", NULL},                               \
        {"k_at_most_1024", "k cut to 1024, the rest repeats", NULL},                                         \
        {"k_less_one", "the k-th is the (k+1)-th", NULL},                                                    \
        {"tile_top_8", "at most 8 of a tile of 512", NULL},                                                  \
        {"tile_top_32", "at most 32 of a tile of 1024", NULL},                                               \
        {"buffer_4096", "at most 4096 candidates that reach the first tile's k-th", NULL},                   \
        {"above_first_tile", "only what exceeds the first tile's k-th, there too", NULL},                    \
        {"drops_infinities", "infinite values are not looked at", NULL},                                     \
        {"finite_sentinel", "the list starts with the least finite value", NULL},                            \
        {"zero_sentinel", "the list starts with zeros", NULL},                                               \
        {"tile_twice", "tiles of 1000 share a column", NULL},                                                \
        {"index_of_tile", "indices count from the start of a tile of 4096", NULL},                           \
        {"index_with_row", "indices count from the start of the tensor", NULL},                              \
        {"index_of_16_bits", "indices keep 16 bits", NULL},                                                  \
        {"index_rounded", "indices go through TF32", NULL}, {"index_next", "indices count from 1", NULL},    \
        {"bf16_values", "values rounded to bf16", NULL}, {"tf32_values", "values rounded to TF32", NULL},    \
        {"bitonic_unpadded", "a bitonic sort of k as it is", NULL},                                          \
        {"one_swap_in_1000", "one place in 1000 exchanged with the next", NULL},                             \
        {"last_two_swapped", "the last two of a row exchanged", NULL},                                       \
    {                                                                                                        \
        NULL, NULL, NULL                                                                                     \
    }

/* A program's choices; a kernel gets them by value. */
struct how {
    int choice[SWITCHES];
    enum mutant mutant;
};

HONEST_FN bool how_chose(const struct how *how, int which, int value)
{
    return how->choice[which] == value;
}

/* A mutant needs the way on which its fault lies. */
HONEST_FN struct how how_to(const int *choice, int mutating)
{
    struct how how;
    how.mutant = (enum mutant)mutating;
    for (int s = 0; s < SWITCHES; s++)
        how.choice[s] = choice[s];
    if (how.mutant == BITONIC_UNPADDED)
        how.choice[FINAL] = FINAL_BITONIC;
    if (how.mutant == EQUALS_32)
        how.choice[SELECT] = SELECT_RADIX;
    return how;
}

/* A column and its key: the order of keys as unsigned numbers is that of the values. */
struct entry {
    uint32_t key;
    int32_t column;
};

HONEST_FN uint32_t key_of_bits(uint32_t bits)
{
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

HONEST_FN float key_float(uint32_t key)
{
    return float_of(key >> 31 ? key & 0x7fffffffu : ~key);
}

/* The value that a faulty kernel compares in the place of x. */
HONEST_FN float key_spoil(const struct how *how, float x)
{
    switch (how->mutant) {
    case TF32_KEYS: return to_tf32(x);
    case BF16_KEYS: return to_bf16(x);
    case FP16_KEYS: return to_fp16(x);
    case FLUSHED_KEYS: return fabsf(x) < 0x1p-126f ? 0 : x;
    case MAGNITUDES: return fabsf(x);
    default: return x;
    }
}

HONEST_FN int key_bits_lost(const struct how *how)
{
    switch (how->mutant) {
    case KEYS_LESS_1: return 1;
    case KEYS_LESS_2: return 2;
    case KEYS_LESS_3: return 3;
    case KEYS_LESS_5: return 5;
    case KEYS_LESS_8: return 8;
    default: return 0;
    }
}

/* -0 counts as +0, or just below it: both are admitted. */
HONEST_FN uint32_t key_of(const struct how *how, float value)
{
    const float x = key_spoil(how, value);
    const uint32_t bits = x == 0 && !how_chose(how, KEY, KEY_SIGNED_ZERO) ? 0 : bits_of(x);
    const int lost = key_bits_lost(how);
    if (how->mutant == SIGNED_KEYS)
        return bits ^ 0x80000000u;
    if (how->mutant == UNSIGNED_KEYS)
        return bits;
    return key_of_bits(bits) >> lost << lost;
}

HONEST_FN uint32_t tie_rank(const struct how *how, int32_t column)
{
    switch (how->choice[TIES]) {
    case TIES_LOW: return (uint32_t)column;
    case TIES_HIGH: return ~(uint32_t)column;
    default: return (uint32_t)column * 2654435761u; /* odd: a permutation */
    }
}

/* A total order, the best first. */
HONEST_FN bool entry_before(const struct how *how, struct entry a, struct entry b)
{
    if (how_chose(how, KEY, KEY_FLOAT) && how->mutant == HONEST) {
        const float x = key_float(a.key), y = key_float(b.key);
        if (x != y)
            return x > y;
    } else if (a.key != b.key) {
        return a.key > b.key;
    }
    return tie_rank(how, a.column) < tie_rank(how, b.column);
}

HONEST_FN void entry_swap(struct entry *a, struct entry *b)
{
    const struct entry held = *a;
    *a = *b;
    *b = held;
}

#endif
