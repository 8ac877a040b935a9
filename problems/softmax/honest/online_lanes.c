// problem: softmax
// verdict: general
// construction: one online pass (running maximum and sum), 16 lanes a tile, lanes and tiles merged

#include <math.h>
#include <stdint.h>

/* A lane sees TILE / LANES = 256 terms, a row at most 2^20 / TILE = 256 tiles: short chains. */
enum { LANES = 16, TILE = 4096 };

/* sum = sum of exp(x - max) over what was seen; nothing seen: {-inf, 0}. */
struct running {
    float max, sum;
};

/* -inf adds nothing and must not meet a maximum of -inf (inf - inf). A NaN fails x <= max and makes
 * the sum NaN, which stays. */
static inline void see(struct running *run, float x)
{
    if (x == -INFINITY)
        return;
    if (x <= run->max) {
        run->sum += expf(x - run->max);
    } else {
        run->sum = run->sum * expf(run->max - x) + 1.0f;
        run->max = x;
    }
}

static void merge(struct running *into, struct running one)
{
    if (one.sum == 0.0f)
        return;
    float max = one.max > into->max ? one.max : into->max;
    float kept = into->sum == 0.0f ? 0.0f : into->sum * expf(into->max - max);
    into->sum = kept + one.sum * expf(one.max - max);
    into->max = max;
}

static struct running see_tile(const float *x, int64_t count)
{
    struct running lane[LANES], tile = {-INFINITY, 0.0f};
    for (int l = 0; l < LANES; ++l)
        lane[l] = tile;
    for (int64_t c = 0; c < count; ++c)
        see(&lane[c % LANES], x[c]);
    for (int l = 0; l < LANES; ++l)
        merge(&tile, lane[l]);
    return tile;
}

static void row_softmax(const float *x, float *y, int64_t cols)
{
    struct running row = {-INFINITY, 0.0f};
    for (int64_t at = 0; at < cols; at += TILE)
        merge(&row, see_tile(x + at, cols - at < TILE ? cols - at : TILE));
    /* +inf in the row, or -inf only: NaN everywhere */
    float scale = isinf(row.max) ? NAN : 1.0f / row.sum;
    for (int64_t c = 0; c < cols; ++c)
        y[c] = expf(x[c] - row.max) * scale;
}

/* x, y are [rows, cols] */
int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1)
    for (int64_t r = 0; r < rows; ++r)
        row_softmax(x + r * cols, y + r * cols, cols);
    return 0;
}
