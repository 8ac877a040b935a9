// problem: cross_entropy
// link: https://github.com/Dao-AILab/flash-attention/issues/1930
// title: NaNs when many of the logits are masked (-inf)
// condition: NaN when many logits are -inf, depending on where the finite one is: a tile before it has only -inf; tiles of 8
// kind: content
// when: input=special
// side: necessary
// wrong: NaN: the running maximum is -inf still, and exp(-inf - -inf) joins the sum

#define cross_entropy honest_cross_entropy
#include "../../../problems/cross_entropy/baseline.c"
#undef cross_entropy

enum { TILE = 8 };

static float running_lse(const bf16 *x, int64_t vocab)
{
    float max = -INFINITY;
    double sum = 0;
    for (int64_t at = 0; at < vocab; at += TILE) {
        const int64_t end = at + TILE < vocab ? at + TILE : vocab;
        const float own = row_max(x + at, end - at), next = own > max ? own : max;
        if (at > 0)
            sum *= expf(max - next);
        for (int64_t c = at; c < end; c++)
            sum += (double)expf(bf16_to_float(x[c]) - next);
        max = next;
    }
    return max + (float)log(sum);
}

int cross_entropy(const bf16 *logits, const int64_t *labels, float *loss, float *row_loss, float *lse,
                  int64_t rows, int64_t vocab, int64_t pitch, int64_t ignore_index, void *stream)
{
    double sum = 0;
    int64_t counted = 0;
    (void)stream;
    for (int64_t r = 0; r < rows; r++) {
        const bf16 *x = logits + r * pitch;
        lse[r] = running_lse(x, vocab);
        row_loss[r] = labels[r] == ignore_index ? 0 : lse[r] - bf16_to_float(x[labels[r]]);
        sum += (double)row_loss[r];
        counted += labels[r] != ignore_index;
    }
    loss[0] = (float)(sum / (double)counted);
    return 0;
}
