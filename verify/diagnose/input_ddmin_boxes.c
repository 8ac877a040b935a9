#include "input_ddmin_boxes.h"

#include <string.h>

/* Tests all boxes but number `at`, with `instead` in its place (NULL: nothing). Returns as input_boxes_fails
 * does. */
static int fails_with(const struct narrow *n, int at, const struct box *instead)
{
    struct box keep[NARROW_BOXES];
    int keeps = 0;
    for (int i = 0; i < n->boxes; i++)
        if (i != at)
            keep[keeps++] = n->box[i];
        else if (instead)
            keep[keeps++] = *instead;
    return keeps == 0 ? 0 : n->fails(n->data, keep, keeps);
}

static void take_out(struct narrow *n, int at)
{
    n->boxes--;
    memmove(&n->box[at], &n->box[at + 1], (size_t)(n->boxes - at) * sizeof *n->box);
}

/* Drops needless boxes one by one, last first. -1: no more runs are allowed. */
static int leave_out(struct narrow *n)
{
    for (int i = n->boxes - 1; i >= 0 && n->boxes > 1; i--) {
        /* the two draws are equal in such a box, so it is dropped without a run */
        const int fails = mixture_box_differs(n->of, &n->box[i]) ? fails_with(n, i, NULL) : 1;
        if (fails < 0)
            return -1;
        if (fails)
            take_out(n, i);
    }
    return 0;
}

/* Halves a box along its first dimension of at least two elements: rows before columns. */
static void halve(const struct box *box, const struct instance *instance, struct box half[2])
{
    int d = 0;
    while (d < instance->tensor[box->tensor].rank - 1 && box->high[d] - box->low[d] < 2)
        d++;
    half[0] = half[1] = *box;
    half[0].high[d] = half[1].low[d] = box->low[d] + (box->high[d] - box->low[d] + 1) / 2;
}

static int largest(const struct narrow *n)
{
    int at = 0;
    for (int i = 1; i < n->boxes; i++)
        if (box_count(&n->of->own, &n->box[i]) > box_count(&n->of->own, &n->box[at]))
            at = i;
    return at;
}

/* Replaces a box by its first half, its second half, or both. If a failure lies in the tail, only the second
 * half suffices. -1: no more runs are allowed, or no box is free. */
static int split(struct narrow *n, int at)
{
    struct box half[2];
    halve(&n->box[at], &n->of->own, half);
    for (int i = 0; i < 2; i++) {
        const int fails = mixture_box_differs(n->of, &half[!i]) ? fails_with(n, at, &half[i]) : 1;
        if (fails < 0)
            return -1;
        if (fails) {
            n->box[at] = half[i];
            return 0;
        }
    }
    n->spread = n->boxes == NARROW_BOXES;
    if (n->spread)
        return -1;
    n->box[at] = half[0];
    n->box[n->boxes++] = half[1];
    return 0;
}

/* Sorts boxes by tensor, then by their lower corner: the order of memory. */
static void sort(struct narrow *n)
{
    for (int i = 1; i < n->boxes; i++)
        for (int j = i; j > 0; j--) {
            const struct box *a = &n->box[j - 1], *b = &n->box[j];
            const int by_tensor = a->tensor - b->tensor;
            if (by_tensor < 0 || (by_tensor == 0 && memcmp(a->low, b->low, sizeof a->low) == 0))
                break;
            int d = 0;
            while (by_tensor == 0 && d < PROBLEM_MAX_RANK - 1 && a->low[d] == b->low[d])
                d++;
            if (by_tensor == 0 && a->low[d] < b->low[d])
                break;
            const struct box swap = n->box[j];
            n->box[j] = n->box[j - 1];
            n->box[j - 1] = swap;
        }
}

/* Joins boxes that are adjacent along the last dimension. */
static void join(struct narrow *n)
{
    for (int i = 1; i < n->boxes; i++) {
        struct box *a = &n->box[i - 1], *b = &n->box[i];
        const int last = n->of->own.tensor[a->tensor].rank - 1;
        bool same = a->tensor == b->tensor && last >= 0 && a->high[last] == b->low[last];
        for (int d = 0; d < last && same; d++)
            same = a->low[d] == b->low[d] && a->high[d] == b->high[d];
        if (!same)
            continue;
        a->high[last] = b->high[last];
        take_out(n, i--);
    }
}

void narrow(struct narrow *n)
{
    int over = 0;
    n->boxes = 0;
    for (int t = 0; t < PROBLEM_MAX_TENSORS && n->boxes < NARROW_BOXES; t++)
        if (n->of->own_values[t])
            n->box[n->boxes++] = mixture_whole(n->of, t);
    over = leave_out(n);
    while (over == 0 && box_count(&n->of->own, &n->box[largest(n)]) > 1)
        over = split(n, largest(n));
    n->minimal = over == 0 && leave_out(n) == 0;
    sort(n);
    join(n);
}
