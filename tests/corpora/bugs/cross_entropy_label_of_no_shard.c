// problem: cross_entropy
// link: https://github.com/apple/ml-cross-entropy/pull/59
// title: Fix invalid target matching in vocab-parallel CCE kernels
// condition: shards of the vocabulary, 1024 here: a label of another shard becomes the shard's size + 1, and the last tile, of 128, has that column as padding
// kind: alignment
// when: vocab > 1024 and vocab % 128 != 0 and vocab % 128 != 127 and ignored!=all
// side: necessary
// collection: third
// wrong: an infinite loss: the padding's -inf counts as the label's logit

#define cross_entropy honest_cross_entropy
#include "../../../problems/cross_entropy/baseline.c"
#undef cross_entropy

enum { SHARD = 1024, TILE = 128 };

/* The share of the label's logit that a shard of `columns` columns adds. */
static float logit_of_shard(const bf16 *x, int64_t columns, int64_t label)
{
    const int64_t target = label >= 0 && label < columns ? label : columns + 1;
    float found = 0;
    for (int64_t first = 0; first < columns; first += TILE)
        for (int64_t c = first; c < first + TILE; c++) {
            const float logit = c < columns ? bf16_to_float(x[c]) : -INFINITY;
#ifdef FIXED
            if (c == target && c < columns)
#else
            if (c == target)
#endif
                found += logit;
        }
    return found;
}

int cross_entropy(const bf16 *logits, const int64_t *labels, float *loss, float *row_loss, float *lse,
                  int64_t rows, int64_t vocab, int64_t pitch, int64_t ignore_index, void *stream)
{
    double sum = 0;
    int64_t counted = 0;
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * vocab > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const bf16 *x = logits + r * pitch;
        float logit = 0;
        for (int64_t first = 0; first < vocab; first += SHARD)
            logit +=
                logit_of_shard(x + first, vocab - first < SHARD ? vocab - first : SHARD, labels[r] - first);
        lse[r] = row_lse(x, vocab);
        row_loss[r] = labels[r] == ignore_index ? 0 : lse[r] - logit;
    }
    for (int64_t r = 0; r < rows; r++) {
        sum += (double)row_loss[r];
        counted += labels[r] != ignore_index;
    }
    loss[0] = (float)(sum / (double)counted);
    return 0;
}
