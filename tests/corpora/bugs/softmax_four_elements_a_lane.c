// problem: softmax
// link: https://github.com/NVIDIA/Megatron-LM/issues/132
// title: Error in fused softmax kernel result
// condition: rows of up to 64, so that a lane keeps fewer than the four elements that it loads at once
// kind: small size
// when: cols > 1 and cols <= 64
// collection: third
// wrong: wrong values: the second row of a warp is loaded over the first, and the rest of four takes no part in a sum

#define softmax honest_softmax
#include "../../../problems/softmax/baseline.c"
#undef softmax

enum { LANES = 32, ROWS = 2, MOST_KEPT = 4, WIDEST = 128 };

/* The lanes' elements, `kept` for each of two rows; room for what is loaded beyond them. */
struct warp {
    int64_t lanes, kept, at_once;
    float element[LANES][ROWS * MOST_KEPT + 4];
};

static struct warp warp_of(int64_t cols)
{
    struct warp w = {.lanes = 1};
    while (w.lanes < LANES && w.lanes < cols)
        w.lanes *= 2;
    for (w.kept = 1; w.kept * w.lanes < cols;)
        w.kept *= 2;
#ifdef FIXED
    w.at_once = w.kept < MOST_KEPT ? 1 : MOST_KEPT;
#else
    w.at_once = MOST_KEPT;
#endif
    return w;
}

/* The column of a lane's element `at` + e. */
static int64_t column(const struct warp *w, int64_t lane, int64_t at, int64_t e)
{
    return at * w->lanes + lane * w->at_once + e;
}

static void load(struct warp *w, int64_t row, const float *x, int64_t cols)
{
    for (int64_t lane = 0; lane < w->lanes; lane++)
        for (int64_t at = 0; at < w->kept; at += w->at_once)
            for (int64_t e = 0; e < w->at_once; e++) {
                const int64_t c = column(w, lane, at, e);
                w->element[lane][row * w->kept + at + e] = c < cols ? x[c] : -INFINITY;
            }
}

static void scale_row(struct warp *w, int64_t row)
{
    float top = -INFINITY;
    double sum = 0;
    for (int64_t lane = 0; lane < w->lanes; lane++)
        for (int64_t i = row * w->kept; i < (row + 1) * w->kept; i++)
            top = w->element[lane][i] > top ? w->element[lane][i] : top;
    for (int64_t lane = 0; lane < w->lanes; lane++)
        for (int64_t i = row * w->kept; i < (row + 1) * w->kept; i++)
            sum += (double)(w->element[lane][i] = expf(w->element[lane][i] - top));
    for (int64_t lane = 0; lane < w->lanes; lane++)
        for (int64_t i = row * w->kept; i < (row + 1) * w->kept; i++)
            w->element[lane][i] = (float)(w->element[lane][i] / sum);
}

static void store(const struct warp *w, int64_t row, float *y, int64_t cols)
{
    for (int64_t lane = 0; lane < w->lanes; lane++)
        for (int64_t at = 0; at < w->kept; at += w->at_once)
            for (int64_t e = 0; e < w->at_once; e++)
                if (column(w, lane, at, e) < cols)
                    y[column(w, lane, at, e)] = w->element[lane][row * w->kept + at + e];
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    if (cols > WIDEST)
        return honest_softmax(x, y, rows, cols, stream);
#pragma omp parallel for schedule(static) if (rows * cols > 8192)
    for (int64_t first = 0; first < rows; first += ROWS) {
        const int64_t count = rows - first < ROWS ? rows - first : ROWS;
        struct warp w = warp_of(cols);
        for (int64_t i = 0; i < count; i++)
            load(&w, i, x + (first + i) * cols, cols);
        for (int64_t i = 0; i < count; i++)
            scale_row(&w, i);
        for (int64_t i = 0; i < count; i++)
            store(&w, i, y + (first + i) * cols, cols);
    }
    return 0;
}
