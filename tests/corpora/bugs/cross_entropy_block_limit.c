// problem: cross_entropy
// link: https://github.com/unslothai/unsloth/issues/91
// title: Vocab size of 102400 exceeds the max CUDA blocksize of 65536 using A40 GPU
// condition: vocabularies above 65536
// kind: threshold
// when: vocab > 65536
// wrong: refused: one block holds a row

#define cross_entropy honest_cross_entropy
#include "../../../problems/cross_entropy/baseline.c"
#undef cross_entropy

int cross_entropy(const bf16 *logits, const int64_t *labels, float *loss, float *row_loss, float *lse,
                  int64_t rows, int64_t vocab, int64_t pitch, int64_t ignore_index, void *stream)
{
    if (vocab > 65536)
        return 1;
    return honest_cross_entropy(logits, labels, loss, row_loss, lse, rows, vocab, pitch, ignore_index,
                                stream);
}
