// problem: topk
// construction: a program with switches, see topk.h
#include "honest.h"
#include "topk.h"

const struct honest_switch honest_switches[] = {TOPK_SWITCHES};
const struct honest_mutant honest_mutants[] = {TOPK_MUTANTS};

static void row_topk(const struct row *r, float *values, int64_t *indices)
{
    const int64_t tiles = row_tiles(r);
    for (int64_t t = 0; t < tiles; t++)
        row_tile(r, t);
    row_sort(r, row_merge(r));
    row_write(r, values, indices);
}

/* x is [rows, n]; values and indices are [rows, k], best first */
int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    const struct how how = how_to(honest_choice, honest_mutating);
    int failed = 0;
    (void)stream;
#pragma omp parallel reduction(| : failed) if (rows > 1)
    {
        struct entry *entries = malloc((size_t)n * sizeof *entries);
        failed |= !entries;
#pragma omp for schedule(dynamic)
        for (int64_t r = 0; r < rows; r++) {
            const struct row row = {x + r * n, n, k, r, entries, how};
            if (entries)
                row_topk(&row, values + r * k, indices + r * k);
        }
        free(entries);
    }
    return failed;
}
