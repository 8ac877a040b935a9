// problem: cross_entropy
// verdict: general
// construction: one sweep, 16 lanes with a running (max, sum) each a tile of 4096, merged; spans of losses in float

#include "../../candidate.h"

enum { LANES = 16, TILE = 4096, SPAN = 256 };

/* sum of exp(x - max) over what was seen; nothing but -inf seen: {-inf, 0} */
struct running {
    float max, sum;
};

/* -inf adds nothing and must not meet a maximum of -inf. NaN makes the sum NaN, which stays. */
static void see(struct running *run, float x)
{
    if (x > run->max) {
        run->sum = run->sum * expf(run->max - x) + 1;
        run->max = x;
    } else if (x != -INFINITY) {
        run->sum += expf(x - run->max);
    }
}

static void merge(struct running *into, struct running one)
{
    const float max = one.max > into->max ? one.max : into->max;
    if (one.sum == 0)
        return;
    into->sum = (into->sum == 0 ? 0 : into->sum * expf(into->max - max)) + one.sum * expf(one.max - max);
    into->max = max;
}

static struct running see_tile(const bf16 *x, int64_t count)
{
    struct running lane[LANES], tile = {-INFINITY, 0};
    for (int l = 0; l < LANES; l++)
        lane[l] = tile;
    for (int64_t c = 0; c < count; c++)
        see(&lane[c % LANES], bf16_to_float(x[c]));
    for (int l = 0; l < LANES; l++)
        merge(&tile, lane[l]);
    return tile;
}

static float row_lse(const bf16 *x, int64_t vocab)
{
    struct running row = {-INFINITY, 0};
    for (int64_t at = 0; at < vocab; at += TILE)
        merge(&row, see_tile(x + at, vocab - at < TILE ? vocab - at : TILE));
    return isinf(row.max) ? NAN : row.max + logf(row.sum);
}

int cross_entropy(const bf16 *logits, const int64_t *labels, float *loss, float *row_loss, float *lse, int64_t rows,
                  int64_t vocab, int64_t pitch, int64_t ignore_index, void *stream)
{
    float sum = 0, counted = 0;
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1)
    for (int64_t r = 0; r < rows; r++) {
        const bf16 *x = logits + r * pitch;
        lse[r] = row_lse(x, vocab);
        row_loss[r] = labels[r] == ignore_index ? 0 : lse[r] - bf16_to_float(x[labels[r]]);
    }
    for (int64_t at = 0; at < rows; at += SPAN) {
        float part = 0;
        for (int64_t r = at; r < rows && r < at + SPAN; r++) {
            part += row_loss[r];
            counted += labels[r] != ignore_index;
        }
        sum += part;
    }
    loss[0] = sum / counted;
    return 0;
}
