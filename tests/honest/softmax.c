// problem: softmax
// construction: a program with switches, see softmax.h
#include "honest.h"
#include "softmax.h"

const struct honest_switch honest_switches[] = {SOFTMAX_SWITCHES};
const struct honest_mutant honest_mutants[] = {SOFTMAX_MUTANTS};

static void row_softmax(const struct row *r, float *y, double *wide)
{
    struct part part[SOFTMAX_MOST_SPLITS];
    const int64_t splits = row_splits(r);
    const float known = row_chose(r, PASS, PASS_MAX_FIRST) ? row_max(r) : 0;
    for (int64_t s = 0; s < splits; s++)
        part[s] = row_split(r, s, known);
    const struct part row = row_merge(r, part, splits);
    for (int64_t j = 0; j < r->cols; j++) {
        y[j] = row_result(r, j, row);
        if (wide)
            wide[j] = (double)y[j];
    }
}

/* x, y are [rows, cols] */
int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    const struct how how = how_to(honest_choice, honest_mutating);
    (void)stream;
#pragma omp parallel for schedule(dynamic) if (rows > 1)
    for (int64_t r = 0; r < rows; r++) {
        const struct row row = {x + r * cols, cols, r, how};
        row_softmax(&row, y + r * cols, honest_unrounded ? honest_unrounded + r * cols : NULL);
    }
    return 0;
}
