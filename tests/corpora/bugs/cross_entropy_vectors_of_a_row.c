// problem: cross_entropy
// link: https://github.com/lightseekorg/tokenspeed/pull/683
// title: fix(sampling): fix fused_topk_topp misaligned-address crash without losing float4 throughput
// condition: a vocabulary that is no multiple of a vector's elements puts the rows behind the first off its boundary
// kind: alignment
// when: rows > 1 and (vocab + pad) % 8 != 0
// collection: second
// wrong: crash: misaligned address

#define cross_entropy honest_cross_entropy
#include "../../../problems/cross_entropy/baseline.c"
#undef cross_entropy

enum { VECTOR_BYTES = 16, MISALIGNED = 716 };

static bool is_aligned(const bf16 *row)
{
    return (uintptr_t)row % VECTOR_BYTES == 0;
}

int cross_entropy(const bf16 *logits, const int64_t *labels, float *loss, float *row_loss, float *lse,
                  int64_t rows, int64_t vocab, int64_t pitch, int64_t ignore_index, void *stream)
{
#ifndef FIXED /* the mended kernel takes a launch with such a row to loads of single elements */
    for (int64_t r = 0; r < rows; r++)
        if (!is_aligned(logits + r * pitch)) /* a GPU's load of 16 bytes traps */
            return MISALIGNED;
#endif
    return honest_cross_entropy(logits, labels, loss, row_loss, lse, rows, vocab, pitch, ignore_index,
                                stream);
}
