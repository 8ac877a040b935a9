// problem: paged_attention
// link: https://github.com/vllm-project/tpu-inference/pull/2756
// title: [RPA v3] Fix int16 overflow in position computation for sequences > 32K tokens
// condition: a sequence longer than 32768 tokens: positions of queries and keys are 16-bit, and the causal mask compares them
// kind: overflow
// when: max_len > 32768
// side: necessary
// collection: fourth
// wrong: wrong values: the query's position is below zero, and the keys of the first 32768 tokens lie behind it

#include "paged.h"

/* Are positions 16-bit, which halves the mask's memory? */
static bool is_narrow(const struct paged *p)
{
#ifdef FIXED
    return p->pages_per_seq * p->page_size <= INT16_MAX;
#else
    (void)p;
    return true;
#endif
}

/* Does the query of the last token see token t? */
static bool sees(const struct paged *p, int64_t len, int64_t t)
{
    const int64_t query = len - 1;
    return is_narrow(p) ? (int16_t)query >= (int16_t)t : query >= t;
}

/* Scores, -inf where the mask hides a token, and their maximum. */
static float masked_scores(const struct paged *p, int64_t b, int64_t h, float *score)
{
    const float scale = 1.0f / sqrtf((float)p->head_dim);
    const bf16 *query = p->query + (b * p->heads + h) * p->head_dim;
    float top = -INFINITY;
    for (int64_t t = 0; t < p->lens[b]; t++) {
        const bf16 *key = p->key(p, b, h, t);
        float dot = 0;
        for (int64_t i = 0; i < p->head_dim; i++)
            dot += bf16_to_float(query[i]) * bf16_to_float(key[i]);
        score[t] = sees(p, p->lens[b], t) ? scale * dot : -INFINITY;
        top = fmaxf(top, score[t]);
    }
    return top;
}

static int run_head(const struct paged *p, int64_t b, int64_t h)
{
    const int64_t dim = p->head_dim;
    float *score = malloc((size_t)p->lens[b] * sizeof *score);
    double *total = calloc((size_t)dim, sizeof *total), sum = 0;
    const int failed = !score || !total;
    if (!failed) {
        const float top = masked_scores(p, b, h, score);
        for (int64_t t = 0; t < p->lens[b]; t++) {
            const bf16 *value = p->key(p, b, h, t) + dim;
            const float weight = expf(score[t] - top);
            sum += (double)weight;
            for (int64_t i = 0; i < dim && weight > 0; i++)
                total[i] += (double)(weight * bf16_to_float(value[i]));
        }
        for (int64_t i = 0; i < dim; i++)
            p->out[(b * p->heads + h) * dim + i] = float_to_bf16((float)(total[i] / sum));
    }
    free(total);
    free(score);
    return failed;
}

int paged_attention(PARAMETERS)
{
    const struct paged p = {HONEST};
    int failed = 0;
    (void)stream;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t bh = 0; bh < batch * heads; bh++)
        failed |= run_head(&p, bh / heads, bh % heads);
    return failed;
}
