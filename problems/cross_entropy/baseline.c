// problem: cross_entropy
// verdict: general
// construction: two sweeps a row: maximum, then exponentials added up in double; rows over the cores, mean in double

#include "../candidate.h"

static float row_max(const bf16 *x, int64_t vocab)
{
    float max = -INFINITY;
    for (int64_t c = 0; c < vocab; c++)
        max = bf16_to_float(x[c]) > max ? bf16_to_float(x[c]) : max;
    return max;
}

/* NaN reaches the sum, and so does inf - inf where the maximum is infinite. */
static float row_lse(const bf16 *x, int64_t vocab)
{
    const float max = row_max(x, vocab);
    double sum = 0;
    for (int64_t c = 0; c < vocab; c++)
        sum += (double)expf(bf16_to_float(x[c]) - max);
    return max + (float)log(sum);
}

/* logits is [rows, vocab], its rows pitch apart; labels, row_loss, lse are [rows] */
int cross_entropy(const bf16 *logits, const int64_t *labels, float *loss, float *row_loss, float *lse, int64_t rows,
                  int64_t vocab, int64_t pitch, int64_t ignore_index, void *stream)
{
    double sum = 0;
    int64_t counted = 0;
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * vocab > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const bf16 *x = logits + r * pitch;
        const float log_sum = row_lse(x, vocab);
        lse[r] = log_sum;
        row_loss[r] = labels[r] == ignore_index ? 0 : log_sum - bf16_to_float(x[labels[r]]);
    }
    for (int64_t r = 0; r < rows; r++) {
        sum += (double)row_loss[r];
        counted += labels[r] != ignore_index;
    }
    loss[0] = (float)(sum / (double)counted);
    return 0;
}
