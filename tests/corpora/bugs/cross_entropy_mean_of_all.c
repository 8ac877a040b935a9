// problem: cross_entropy
// link: https://github.com/NVIDIA/TransformerEngine/pull/2476
// title: fix ce loss calculation when some tokens are ignored
// condition: some tokens are ignored
// kind: content
// when: ignored!=none
// side: necessary
// wrong: wrong values: the mean is taken over all tokens

#define cross_entropy honest_cross_entropy
#include "../../../problems/cross_entropy/baseline.c"
#undef cross_entropy

int cross_entropy(const bf16 *logits, const int64_t *labels, float *loss, float *row_loss, float *lse,
                  int64_t rows, int64_t vocab, int64_t pitch, int64_t ignore_index, void *stream)
{
    double sum = 0;
    const int failed =
        honest_cross_entropy(logits, labels, loss, row_loss, lse, rows, vocab, pitch, ignore_index, stream);
    for (int64_t r = 0; r < rows; r++)
        sum += (double)row_loss[r];
    loss[0] = (float)(sum / (double)rows);
    return failed;
}
