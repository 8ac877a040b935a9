// problem: paged_attention
// link: https://github.com/ROCm/aiter/pull/3641
// title: [Gluon][GFX950][MLA] Fix mla decode accuracy issue with empty kv split
// condition: more splits than a sequence has blocks of tokens; 8 splits that blocks of 16 are dealt to in turns
// kind: small size
// when: shortest <= 112
// collection: second
// wrong: NaN: a split without blocks divides its nothing by a sum of 0, and that times a weight of 0 joins the rest

#include <stdlib.h>

#include "paged.h"

enum { SPLITS = 8, BLOCK = 16, WIDEST = 256 };

struct part {
    float max, lse;
    float out[WIDEST];
};

static float score_of(const struct paged *p, int64_t b, int64_t h, int64_t t)
{
    const bf16 *query = p->query + (b * p->heads + h) * p->head_dim, *key = p->key(p, b, h, t);
    float dot = 0;
    for (int64_t i = 0; i < p->head_dim; i++)
        dot += bf16_to_float(query[i]) * bf16_to_float(key[i]);
    return dot / sqrtf((float)p->head_dim);
}

static bool is_of_split(int64_t t, int64_t split)
{
    return t / BLOCK % SPLITS == split;
}

static void attend_to_split(const struct paged *p, int64_t b, int64_t h, int64_t split, const float *score,
                            struct part *part)
{
    const int64_t len = p->length(p, b);
    double sum = 0, total[WIDEST] = {0};
    part->max = -INFINITY;
    for (int64_t t = 0; t < len; t++)
        if (is_of_split(t, split))
            part->max = fmaxf(part->max, score[t]);
    for (int64_t t = 0; t < len; t++) {
        const bf16 *value = p->key(p, b, h, t) + p->head_dim;
        const float weight = is_of_split(t, split) ? expf(score[t] - part->max) : 0;
        for (int64_t i = 0; is_of_split(t, split) && i < p->head_dim; i++)
            total[i] += (double)(weight * bf16_to_float(value[i]));
        sum += (double)weight;
    }
    part->lse = part->max + (float)log(sum);
    for (int64_t i = 0; i < p->head_dim; i++)
        part->out[i] = (float)(total[i] / sum);
}

static void merge(const struct paged *p, const struct part *part, bf16 *out)
{
    float top = -INFINITY;
    double sum = 0, total[WIDEST] = {0};
    for (int s = 0; s < SPLITS; s++)
        top = fmaxf(top, part[s].lse);
    for (int s = 0; s < SPLITS; s++) {
        const double weight = (double)expf(part[s].lse - top);
#ifdef FIXED
        if (part[s].lse == -INFINITY)
            continue;
#endif
        sum += weight;
        for (int64_t i = 0; i < p->head_dim; i++)
            total[i] += weight * (double)part[s].out[i];
    }
    for (int64_t i = 0; i < p->head_dim; i++)
        out[i] = float_to_bf16((float)(total[i] / sum));
}

int paged_attention(PARAMETERS)
{
    const struct paged p = {HONEST};
    int failed = 0;
    (void)stream;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t bh = 0; bh < batch * heads; bh++) {
        const int64_t b = bh / heads, h = bh % heads, len = p.length(&p, b);
        struct part part[SPLITS];
        float *score = malloc((size_t)len * sizeof *score);
        failed |= !score;
        for (int64_t t = 0; score && t < len; t++)
            score[t] = score_of(&p, b, h, t);
        for (int s = 0; score && s < SPLITS; s++)
            attend_to_split(&p, b, h, s, score, &part[s]);
        if (score)
            merge(&p, part, out + bh * head_dim);
        free(score);
    }
    return failed;
}
