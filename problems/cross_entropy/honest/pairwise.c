// problem: cross_entropy
// verdict: general
// construction: pairwise sums in float, base-2 exponentials of logits times log2 e; losses from log2 of the sum, times
//   ln 2 last; the mean pairwise, of losses times the reciprocal count

#include "../../candidate.h"

static const float LOG2E = 1.4426950408889634f, LN2 = 0.6931471805599453f;

static float greatest(const bf16 *x, int64_t n)
{
    float max = -INFINITY;
    for (int64_t c = 0; c < n; c++)
        max = fmaxf(max, bf16_to_float(x[c]) * LOG2E);
    return max;
}

static float exponentials(const bf16 *x, int64_t n, float max)
{
    if (n > 32)
        return exponentials(x, n / 2, max) + exponentials(x + n / 2, n - n / 2, max);
    float sum = 0;
    for (int64_t c = n - 1; c >= 0; c--)
        sum += exp2f(bf16_to_float(x[c]) * LOG2E - max);
    return sum;
}

static float scaled(const float *loss, int64_t n, float scale)
{
    if (n > 8)
        return scaled(loss, n / 2, scale) + scaled(loss + n / 2, n - n / 2, scale);
    float sum = 0;
    for (int64_t r = 0; r < n; r++)
        sum += loss[r] * scale;
    return sum;
}

int cross_entropy(const bf16 *logits, const int64_t *labels, float *loss, float *row_loss, float *lse, int64_t rows,
                  int64_t vocab, int64_t pitch, int64_t ignore_index, void *stream)
{
    int64_t counted = 0;
    (void)stream;
#pragma omp parallel for reduction(+ : counted)
    for (int64_t r = 0; r < rows; r++) {
        const bf16 *x = logits + r * pitch;
        const float max = greatest(x, vocab), log2_sum = log2f(exponentials(x, vocab, max));
        lse[r] = LN2 * (max + log2_sum);
        row_loss[r] = 0;
        if (labels[r] == ignore_index)
            continue;
        row_loss[r] = LN2 * (log2_sum - (bf16_to_float(x[labels[r]]) * LOG2E - max));
        counted++;
    }
    *loss = counted ? scaled(row_loss, rows, 1 / (float)counted) : NAN;
    return 0;
}
