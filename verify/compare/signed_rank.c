#include "signed_rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT = 64, EXACT_SUM = EXACT * (EXACT + 1) / 2 };

static int64_t averages(int count)
{
    return (int64_t)count * (count + 1) / 2;
}

/* P(W <= w) for W = sum of r B_r, B_r fair coins, r = 1 .. n: counts the subsets of the ranks with each sum,
 * over 2^n. */
static double tail_exact(int count, int64_t w)
{
    double share[EXACT_SUM + 1] = {1};
    double sum = 0;
    for (int rank = 1; rank <= count; rank++)
        for (int64_t s = averages(rank); s >= 0; s--)
            share[s] = (share[s] + (s >= rank ? share[s - rank] : 0)) / 2;
    for (int64_t s = 0; s <= w; s++)
        sum += share[s];
    return sum;
}

/* Mean n (n + 1) / 4, variance n (n + 1) (2 n + 1) / 24. */
double signed_rank_tail(int count, int64_t w)
{
    const double n = count, mean = n * (n + 1) / 4, deviation = sqrt(n * (n + 1) * (2 * n + 1) / 24);
    if (w < 0)
        return 0;
    if (w >= averages(count))
        return 1;
    return count <= EXACT ? tail_exact(count, w)
                          : 0.5 * erfc((mean - (double)w - 0.5) / (deviation * M_SQRT2));
}

/* Tukey: W is the number of averages (d_i + d_j) / 2, i <= j, above the margin (Hollander, Wolfe and Chicken,
 * Nonparametric Statistical Methods, 3.1). By symmetry P(W >= w) = P(W <= n (n + 1) / 2 - w). */
double signed_rank_above(const double *difference, int count, double margin)
{
    int64_t above = 0;
    for (int i = 0; i < count; i++)
        for (int j = i; j < count; j++)
            above += (difference[i] + difference[j]) / 2 > margin;
    return count > 0 ? signed_rank_tail(count, averages(count) - above) : 1;
}

double signed_rank_below(const double *difference, int count, double margin)
{
    int64_t below = 0;
    for (int i = 0; i < count; i++)
        for (int j = i; j < count; j++)
            below += (difference[i] + difference[j]) / 2 < margin;
    return count > 0 ? signed_rank_tail(count, averages(count) - below) : 1;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The largest k with P(W <= k - 1) <= level / 2; 0: there is none. */
static int64_t rank_of_end(int count, double level)
{
    int64_t low = 0, high = averages(count) / 2 + 1;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (signed_rank_tail(count, middle - 1) <= level / 2)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct interval signed_rank_centre(const double *difference, int count, double level)
{
    const int64_t all = averages(count);
    double *const average = count > 0 ? malloc((size_t)all * sizeof *average) : NULL;
    struct interval centre = {.present = false};
    int64_t n = 0;
    if (!average)
        return centre;
    for (int i = 0; i < count; i++)
        for (int j = i; j < count; j++)
            average[n++] = (difference[i] + difference[j]) / 2;
    qsort(average, (size_t)all, sizeof *average, ascending);
    const int64_t k = rank_of_end(count, level);
    centre = (struct interval){.present = true,
                               .value = (average[(all - 1) / 2] + average[all / 2]) / 2,
                               .low = k > 0 ? average[k - 1] : -INFINITY,
                               .high = k > 0 ? average[all - k] : INFINITY};
    free(average);
    return centre;
}
