// problem: cross_entropy
// link: https://github.com/mgmalek/efficient_cross_entropy/issues/6
// title: ignore_index tests fail
// condition: all rows are ignored, so that the mean is NaN; a vocabulary of the ignored label alone leaves no other
// kind: content
// when: ignored=all or ignore=inside and vocab == 1
// collection: fourth
// wrong: wrong values: every row is divided by the number of rows that count before ignored ones become 0, so the loss is 0

#define cross_entropy honest_cross_entropy
#include "../../../problems/cross_entropy/baseline.c"
#undef cross_entropy

/* A block of rows: their losses, and which of them count. */
struct block {
    int64_t first, rows;
    const int64_t *labels;
    float *loss;
};

enum { ROWS_OF_A_BLOCK = 16 };

static bool counts(const struct block *b, int64_t i, int64_t ignore_index)
{
    return b->labels[b->first + i] != ignore_index;
}

/* A block's share of the mean. */
static double share_of(const struct block *b, int64_t ignore_index, double divisor)
{
    double share = 0;
    for (int64_t i = 0; i < b->rows; i++) {
        const double loss = (double)b->loss[b->first + i];
#ifdef FIXED
        share += loss;
#else
        share += counts(b, i, ignore_index) ? loss / divisor : 0;
#endif
    }
#ifdef FIXED
    (void)ignore_index;
    return share / divisor;
#else
    return share;
#endif
}

static double divisor_of(const int64_t *labels, int64_t rows, int64_t ignore_index)
{
    const struct block all = {0, rows, labels, NULL};
    int64_t counted = 0;
    for (int64_t i = 0; i < rows; i++)
        counted += counts(&all, i, ignore_index);
    return (double)counted;
}

int cross_entropy(const bf16 *logits, const int64_t *labels, float *loss, float *row_loss, float *lse,
                  int64_t rows, int64_t vocab, int64_t pitch, int64_t ignore_index, void *stream)
{
    const double divisor = divisor_of(labels, rows, ignore_index);
    double mean = 0;
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * vocab > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const bf16 *x = logits + r * pitch;
        lse[r] = row_lse(x, vocab);
        row_loss[r] = labels[r] == ignore_index ? 0 : lse[r] - bf16_to_float(x[labels[r]]);
    }
    for (int64_t first = 0; first < rows; first += ROWS_OF_A_BLOCK) {
        const int64_t left = rows - first;
        const struct block block = {first, left < ROWS_OF_A_BLOCK ? left : ROWS_OF_A_BLOCK, labels, row_loss};
        mean += share_of(&block, ignore_index, divisor);
    }
    loss[0] = (float)mean;
    return 0;
}
