// problem: cross_entropy
// verdict: general
// construction: a row is a histogram of the 65536 values that a bf16 has; one exponential for each that occurs, times its count

#include <stdlib.h>

#include "../../candidate.h"

enum { VALUES = 65536 };

/* Counts are cleared on the way, so that a row costs its own length and not that of the table. */
static double weigh(const bf16 *x, int64_t vocab, float max, int32_t *count)
{
    double sum = 0;
    for (int64_t c = 0; c < vocab; c++) {
        const int32_t n = count[x[c]];
        count[x[c]] = 0;
        if (n > 0 && isfinite(max))
            sum += n * (double)expf(bf16_to_float(x[c]) - max);
    }
    return sum;
}

static float log_sum(const bf16 *x, int64_t vocab, int32_t *count)
{
    float max = -INFINITY;
    bool nan = false;
    for (int64_t c = 0; c < vocab; c++) {
        const float value = bf16_to_float(x[c]);
        nan = nan || value != value;
        max = value > max ? value : max;
        count[x[c]]++;
    }
    const double sum = weigh(x, vocab, max, count);
    return nan || !isfinite(max) ? NAN : max + logf((float)sum);
}

int cross_entropy(const bf16 *logits, const int64_t *labels, float *loss, float *row_loss, float *lse, int64_t rows,
                  int64_t vocab, int64_t pitch, int64_t ignore_index, void *stream)
{
    static int32_t *count; /* all 0 between two rows, and between two calls */
    double total = 0;
    int64_t kept = 0;
    (void)stream;
    if (!count && !(count = calloc(VALUES, sizeof *count)))
        return 1;
    for (int64_t r = 0; r < rows; r++) {
        const bf16 *x = logits + r * pitch;
        lse[r] = log_sum(x, vocab, count);
        row_loss[r] = 0;
        if (labels[r] == ignore_index)
            continue;
        row_loss[r] = lse[r] - bf16_to_float(x[labels[r]]);
        total += row_loss[r];
        kept++;
    }
    *loss = (float)(total / (double)kept);
    return 0;
}
