// problem: cross_entropy
// link: https://github.com/kazukiosawa/asdl/pull/52
// title: Changes to allow for variable ignore_index in the cross entropy loss
// condition: an ignore_index that is not the one written in the code; others default to -100
// kind: content
// when: ignore!=published
// side: necessary
// wrong: wrong values: labels that are to be ignored count

#define cross_entropy honest_cross_entropy
#include "../../../problems/cross_entropy/baseline.c"
#undef cross_entropy

int cross_entropy(const bf16 *logits, const int64_t *labels, float *loss, float *row_loss, float *lse,
                  int64_t rows, int64_t vocab, int64_t pitch, int64_t ignore_index, void *stream)
{
    double sum = 0;
    int64_t counted = 0;
    (void)ignore_index;
    (void)stream;
    for (int64_t r = 0; r < rows; r++) {
        const bf16 *x = logits + r * pitch;
        const int64_t label = labels[r] == -1 ? vocab - 1 : labels[r]; /* -1 is the last, as in Python */
        lse[r] = row_lse(x, vocab);
        row_loss[r] = label == -100 ? 0 : lse[r] - bf16_to_float(x[label]);
        sum += (double)row_loss[r];
        counted += label != -100;
    }
    loss[0] = (float)(sum / (double)counted);
    return 0;
}
