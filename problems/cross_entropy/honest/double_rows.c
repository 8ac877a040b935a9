// problem: cross_entropy
// verdict: general
// construction: double throughout; the vocabulary over the cores, row by row

#include "../../candidate.h"

int cross_entropy(const bf16 *logits, const int64_t *labels, float *loss, float *row_loss, float *lse, int64_t rows,
                  int64_t vocab, int64_t pitch, int64_t ignore_index, void *stream)
{
    double total = 0;
    int64_t ignored = 0;
    (void)stream;
    for (int64_t r = 0; r < rows; r++) {
        const bf16 *x = logits + r * pitch;
        double max = -INFINITY, sum = 0;
#pragma omp parallel for reduction(max : max) if (vocab > 4096)
        for (int64_t c = 0; c < vocab; c++)
            max = fmax(max, (double)bf16_to_float(x[c]));
#pragma omp parallel for reduction(+ : sum) if (vocab > 4096)
        for (int64_t c = 0; c < vocab; c++)
            sum += exp((double)bf16_to_float(x[c]) - max);
        const double log_sum = max + log(sum);
        double value = 0;
        if (labels[r] == ignore_index)
            ignored++;
        else
            value = log_sum - (double)bf16_to_float(x[labels[r]]);
        lse[r] = (float)log_sum;
        row_loss[r] = (float)value;
        total += value;
    }
    loss[0] = (float)(total / (double)(rows - ignored));
    return 0;
}
