// problem: cross_entropy
// link: https://github.com/unslothai/unsloth/pull/10616
// title: fix: exclude padded logits from softcapped cross entropy
// condition: padded lanes of the last block enter the sum: vocabularies that a block does not divide (32000: 768 lanes)
// kind: power of two
// when: vocab % 1024 != 0
// side: necessary
// wrong: wrong values: lanes past the vocabulary count as logits of 0

#define cross_entropy honest_cross_entropy
#include "../../../problems/cross_entropy/baseline.c"
#undef cross_entropy

enum { LANES = 1024 };

int cross_entropy(const bf16 *logits, const int64_t *labels, float *loss, float *row_loss, float *lse,
                  int64_t rows, int64_t vocab, int64_t pitch, int64_t ignore_index, void *stream)
{
    const int64_t padded = (vocab + LANES - 1) / LANES * LANES - vocab;
    double sum = 0;
    int64_t counted = 0;
    (void)stream;
    for (int64_t r = 0; r < rows; r++) {
        const bf16 *x = logits + r * pitch;
        const float honest = row_lse(x, vocab), max = honest > 0 ? honest : 0;
        lse[r] = honest == honest ? max + logf(expf(honest - max) + (float)padded * expf(-max)) : honest;
        if (padded == 0)
            lse[r] = honest;
        row_loss[r] = labels[r] == ignore_index ? 0 : lse[r] - bf16_to_float(x[labels[r]]);
        sum += (double)row_loss[r];
        counted += labels[r] != ignore_index;
    }
    loss[0] = (float)(sum / (double)counted);
    return 0;
}
