// problem: cross_entropy
// link: https://github.com/PaddlePaddle/Paddle/issues/14006
// title: softmax_with_cross_entropy soft_label=False, loss=10^20
// condition: the label's logit is so far below the largest that its fp32 probability is 0
// kind: content
// when: input in {needle, wide, special} and vocab > 1 and ignored != all
// side: necessary
// collection: third
// wrong: wrong values: 10^20 stands for the logarithm of 0

#define cross_entropy honest_cross_entropy
#include "../../../problems/cross_entropy/baseline.c"
#undef cross_entropy

static const float INFINITE = 1e20f;

static float within_bounds(float x)
{
    return x > INFINITE ? INFINITE : x < -INFINITE ? -INFINITE : x;
}

static float loss_of(const bf16 *x, int64_t vocab, int64_t label, float log_sum)
{
#ifdef FIXED
    (void)vocab;
    (void)within_bounds;
    return log_sum - bf16_to_float(x[label]);
#else
    const float max = row_max(x, vocab);
    const float probability = expf(bf16_to_float(x[label]) - max) / expf(log_sum - max);
    return -within_bounds(logf(probability));
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
        const bf16 *x = logits + r * pitch;
        lse[r] = row_lse(x, vocab);
        row_loss[r] = labels[r] == ignore_index ? 0 : loss_of(x, vocab, labels[r], lse[r]);
    }
    for (int64_t r = 0; r < rows; r++) {
        sum += (double)row_loss[r];
        counted += labels[r] != ignore_index;
    }
    loss[0] = (float)(sum / (double)counted);
    return 0;
}
