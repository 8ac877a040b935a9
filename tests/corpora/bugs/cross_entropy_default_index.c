// problem: cross_entropy
// link: https://github.com/flagos-ai/FlagGems/pull/73
// title: add ignore_index for cross_entropy_loss
// condition: targets are ignored only when ignore_index is not -100, which was taken for "nothing to ignore"
// kind: content
// when: ignore=published and ignored!=none
// side: necessary
// wrong: wrong values or out of bounds: the logit in front of the row's is read

#define cross_entropy honest_cross_entropy
#include "../../../problems/cross_entropy/baseline.c"
#undef cross_entropy

int cross_entropy(const bf16 *logits, const int64_t *labels, float *loss, float *row_loss, float *lse,
                  int64_t rows, int64_t vocab, int64_t pitch, int64_t ignore_index, void *stream)
{
    double sum = 0;
    int64_t counted = 0;
    if (ignore_index != -100)
        return honest_cross_entropy(logits, labels, loss, row_loss, lse, rows, vocab, pitch, ignore_index,
                                    stream);
    for (int64_t r = 0; r < rows; r++, counted++) {
        const bf16 *x = logits + r * pitch;
        lse[r] = row_lse(x, vocab);
        row_loss[r] = lse[r] - bf16_to_float(x[labels[r]]);
        sum += (double)row_loss[r];
    }
    loss[0] = (float)(sum / (double)counted);
    return 0;
}
