// problem: cross_entropy
// link: https://github.com/apple/ml-cross-entropy/issues/37
// title: [Bug] Triton Error [CUDA]: an illegal memory access was encountered with large dense models
// condition: offsets of rows from 2^31 on; sized down to 2^20
// kind: overflow
// when: (rows - 1) * (vocab + pad) >= 1048576
// collection: second
// wrong: wrong values: an offset wraps, and another row is read

#define cross_entropy honest_cross_entropy
#include "../../../problems/cross_entropy/baseline.c"
#undef cross_entropy

static int64_t offset_of(int64_t row, int64_t pitch)
{
#ifdef FIXED
    return row * pitch;
#else
    return row * pitch % (1 << 20);
#endif
}

int cross_entropy(const bf16 *logits, const int64_t *labels, float *loss, float *row_loss, float *lse,
                  int64_t rows, int64_t vocab, int64_t pitch, int64_t ignore_index, void *stream)
{
    double sum = 0;
    int64_t counted = 0;
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * vocab > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const bf16 *x = logits + offset_of(r, pitch);
        lse[r] = row_lse(x, vocab);
        row_loss[r] = labels[r] == ignore_index ? 0 : lse[r] - bf16_to_float(x[labels[r]]);
    }
    for (int64_t r = 0; r < rows; r++) {
        sum += (double)row_loss[r];
        counted += labels[r] != ignore_index;
    }
    loss[0] = (float)(sum / (double)counted);
    return 0;
}
