/* Ways to select and to sort entries, for programs of topk. Each `select` leaves the k best of `count`
 * entries in front, in any order; k <= count. */
#ifndef UNSEEN_HONEST_TOPK_SELECT_H
#define UNSEEN_HONEST_TOPK_SELECT_H

#include "topk_how.h"

/* --- heaps: each entry is before the one above it --- */

HONEST_FN void heap_sink(const struct how *how, struct entry *heap, int64_t count, int64_t at,
                         struct entry one)
{
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && entry_before(how, heap[child], heap[child + 1]))
            child++;
        if (!entry_before(how, one, heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = one;
}

HONEST_FN void heap_make(const struct how *how, struct entry *e, int64_t count)
{
    for (int64_t at = count / 2 - 1; at >= 0; at--)
        heap_sink(how, e, count, at, e[at]);
}

HONEST_FN void select_by_heap(const struct how *how, struct entry *e, int64_t count, int64_t k)
{
    heap_make(how, e, k);
    for (int64_t i = k; i < count; i++)
        if (entry_before(how, e[i], e[0]))
            heap_sink(how, e, k, 0, e[i]);
}

HONEST_FN void sort_by_heap(const struct how *how, struct entry *e, int64_t count)
{
    heap_make(how, e, count);
    for (int64_t last = count - 1; last > 0; last--) {
        const struct entry worst = e[0];
        heap_sink(how, e, last, 0, e[last]);
        e[last] = worst;
    }
}

/* --- the k-th key first, then all above it and as many of its equals as are missing --- */

HONEST_FN int64_t count_from(const struct entry *e, int64_t count, uint32_t least)
{
    int64_t reached = 0;
    for (int64_t i = 0; i < count; i++)
        reached += e[i].key >= least;
    return reached;
}

HONEST_FN uint32_t kth_by_bisection(const struct entry *e, int64_t count, int64_t k)
{
    uint32_t low = 0, high = UINT32_MAX;
    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;
        if (count_from(e, count, middle) >= k)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Digit by digit from the top: `prefix` are the k-th key's digits so far, its `known` highest bits. */
HONEST_FN uint32_t kth_by_radix(const struct how *how, const struct entry *e, int64_t count, int64_t k)
{
    const int digits[] = {8, 4, 11};
    const int digit = digits[how->choice[DIGIT]];
    uint32_t prefix = 0;
    for (int known = 0; known < 32;) {
        const int width = known + digit < 32 ? digit : 32 - known, shift = 32 - known - width;
        uint32_t histogram[1 << 11], at = (1u << width) - 1;
        for (uint32_t d = 0; d <= at; d++)
            histogram[d] = 0;
        for (int64_t i = 0; i < count; i++)
            if (known == 0 || e[i].key >> (32 - known) == prefix)
                histogram[e[i].key >> shift & ((1u << width) - 1)]++;
        while ((int64_t)histogram[at] < k)
            k -= histogram[at--];
        prefix = prefix << width | at;
        known += width;
    }
    return prefix;
}

/* Equals are taken from one end of the list, or from the other. */
HONEST_FN void gather(const struct how *how, struct entry *e, int64_t count, int64_t k, uint32_t least)
{
    const bool backward = how_chose(how, SCAN, SCAN_BACKWARD);
    int64_t missing = k, equals = 0, held = 0;
    for (int64_t i = 0; i < count; i++) {
        missing -= e[i].key > least;
        equals += e[i].key == least;
    }
    const int64_t passed = backward ? equals - missing : 0; /* equals that are left out in front */
    int64_t seen = 0;
    for (int64_t i = 0; i < count && held < k; i++) {
        const bool equal = e[i].key == least;
        const bool taken = equal && seen >= passed && seen < passed + missing;
        seen += equal;
        if (e[i].key > least || taken)
            e[held++] = e[i];
    }
    if (how->mutant == EQUALS_32)
        for (int64_t i = 0, of = 0; i < k; i++)
            if (e[i].key == least && ++of > 32)
                e[i] = e[i - 1];
}

/* --- quickselect and sorts --- */

HONEST_FN void select_quickly(const struct how *how, struct entry *e, int64_t count, int64_t k)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const struct entry pivot = e[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (entry_before(how, e[i], pivot))
                i++;
            while (entry_before(how, pivot, e[j]))
                j--;
            if (i <= j)
                entry_swap(&e[i++], &e[j--]);
        }
        if (k - 1 <= j)
            high = j;
        else if (k - 1 >= i)
            low = i;
        else
            return;
    }
}

HONEST_FN void sort_by_shell(const struct how *how, struct entry *e, int64_t count)
{
    int64_t gap = 1;
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap; gap /= 3)
        for (int64_t i = gap; i < count; i++) {
            const struct entry one = e[i];
            int64_t at = i;
            for (; at >= gap && entry_before(how, one, e[at - gap]); at -= gap)
                e[at] = e[at - gap];
            e[at] = one;
        }
}

/* A bitonic network over the next power of two. Places beyond `count` come after everything, and comparators
 * turn them the same way, so they never move. */
HONEST_FN void sort_by_network(const struct how *how, struct entry *e, int64_t count)
{
    int64_t size = 1;
    while (size < count)
        size *= 2;
    if (how->mutant == BITONIC_UNPADDED)
        size = count;
    for (int64_t width = 2; width <= size; width *= 2)
        for (int64_t gap = width / 2, first = 1; gap; gap /= 2, first = 0)
            for (int64_t i = 0; i < size; i++) {
                const int64_t other = first ? i ^ (width - 1) : i ^ gap;
                if (other > i && other < count && entry_before(how, e[other], e[i]))
                    entry_swap(&e[i], &e[other]);
            }
}

HONEST_FN void sort_entries(const struct how *how, struct entry *e, int64_t count)
{
    switch (how->choice[FINAL]) {
    case FINAL_BITONIC: sort_by_network(how, e, count); break;
    case FINAL_HEAP: sort_by_heap(how, e, count); break;
    default: sort_by_shell(how, e, count);
    }
}

enum { MOST_SORTED = 16384 }; /* at a time; more are selected from by a heap */

HONEST_FN void select_entries(const struct how *how, struct entry *e, int64_t count, int64_t k)
{
    if (k >= count)
        return;
    switch (how->choice[SELECT]) {
    case SELECT_RADIX: gather(how, e, count, k, kth_by_radix(how, e, count, k)); break;
    case SELECT_BISECTION: gather(how, e, count, k, kth_by_bisection(e, count, k)); break;
    case SELECT_QUICK: select_quickly(how, e, count, k); break;
    case SELECT_SORT:
        if (count <= MOST_SORTED) {
            sort_entries(how, e, count);
            break;
        } /* fall through */
    default: select_by_heap(how, e, count, k);
    }
}

#endif
