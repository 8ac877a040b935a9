// problem: paged_attention
// link: https://github.com/ROCm/vllm/pull/22
// title: Integrate PagedAttention Optimization custom kernel into vLLM
// condition: contexts above 16K, 64 partitions of 256 tokens, are reduced wrongly; sized down to partitions of 32
// kind: threshold
// when: max_len > 2048
// side: necessary
// collection: second
// wrong: wrong values: a lane keeps the weight of one partition, and the 65th takes the first one's place

#include <stdlib.h>

#include "paged.h"

enum { PARTITION = 32, LANES = 64 };

struct part {
    float max;
    double sum;
};

static float score_of(const struct paged *p, int64_t b, int64_t h, int64_t t)
{
    const bf16 *query = p->query + (b * p->heads + h) * p->head_dim, *key = p->key(p, b, h, t);
    float dot = 0;
    for (int64_t i = 0; i < p->head_dim; i++)
        dot += bf16_to_float(query[i]) * bf16_to_float(key[i]);
    return dot / sqrtf((float)p->head_dim);
}

static int64_t lane_of(int64_t part)
{
#ifdef FIXED
    return part;
#else
    return part % LANES;
#endif
}

static void partition(const struct paged *p, int64_t b, int64_t h, int64_t first, float *acc, struct part *of)
{
    const int64_t len = p->length(p, b), end = first + PARTITION < len ? first + PARTITION : len;
    float score[PARTITION];
    *of = (struct part){-INFINITY, 0};
    for (int64_t t = first; t < end; t++) {
        score[t - first] = score_of(p, b, h, t);
        of->max = fmaxf(of->max, score[t - first]);
    }
    memset(acc, 0, (size_t)p->head_dim * sizeof *acc);
    for (int64_t t = first; t < end; t++) {
        const bf16 *value = p->key(p, b, h, t) + p->head_dim;
        const float weight = expf(score[t - first] - of->max);
        of->sum += (double)weight;
        for (int64_t i = 0; i < p->head_dim; i++)
            acc[i] += weight * bf16_to_float(value[i]);
    }
}

static int reduced_head(const struct paged *p, int64_t b, int64_t h)
{
    const int64_t parts = (p->length(p, b) + PARTITION - 1) / PARTITION, dim = p->head_dim;
    float *acc = malloc((size_t)(parts * dim) * sizeof *acc), max = -INFINITY;
    struct part *lane = malloc((size_t)parts * sizeof *lane);
    double *total = calloc((size_t)dim, sizeof *total), sum = 0;
    const int failed = !acc || !lane || !total;
    for (int64_t i = 0; !failed && i < parts; i++) {
        struct part of;
        partition(p, b, h, i * PARTITION, acc + i * dim, &of);
        lane[lane_of(i)] = of;
        max = fmaxf(max, of.max);
    }
    for (int64_t i = 0; !failed && i < parts; i++) {
        const double weight = (double)expf(lane[lane_of(i)].max - max);
        sum += weight * lane[lane_of(i)].sum;
        for (int64_t d = 0; d < dim; d++)
            total[d] += weight * (double)acc[i * dim + d];
    }
    for (int64_t d = 0; !failed && d < dim; d++)
        p->out[(b * p->heads + h) * dim + d] = float_to_bf16((float)(total[d] / sum));
    free(acc);
    free(lane);
    free(total);
    return failed;
}

int paged_attention(PARAMETERS)
{
    const struct paged p = {HONEST};
    int failed = 0;
    (void)stream;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t bh = 0; bh < batch * heads; bh++)
        failed |= reduced_head(&p, bh / heads, bh % heads);
    return failed;
}
