// problem: paged_attention
// link: https://github.com/flashinfer-ai/flashinfer/issues/941
// title: MLA returns NaN when kvcache for unfilled tokens in the last page is NaN
// condition: the last page is not full, and the memory behind the last token holds NaN
// kind: content
// when: past!=finite and max_len % page_size != 0
// side: sufficient
// collection: second
// wrong: NaN: masked probabilities are 0, and whole pages of values are multiplied by them

#include <stdlib.h>

#include "paged.h"

static int head_of_pages(const struct paged *p, int64_t b, int64_t h)
{
    const int64_t len = p->length(p, b), dim = p->head_dim;
    const int64_t padded = (len + p->page_size - 1) / p->page_size * p->page_size;
    const bf16 *query = p->query + (b * p->heads + h) * dim;
    float *weight = calloc((size_t)padded, sizeof *weight), top = -INFINITY;
    double *total = calloc((size_t)dim, sizeof *total), sum = 0;
    const int failed = !weight || !total;
    for (int64_t t = 0; !failed && t < len; t++) {
        const bf16 *key = p->key(p, b, h, t);
        for (int64_t i = 0; i < dim; i++)
            weight[t] += bf16_to_float(query[i]) * bf16_to_float(key[i]);
        weight[t] /= sqrtf((float)dim);
        top = fmaxf(top, weight[t]);
    }
    for (int64_t t = 0; !failed && t < len; t++) {
        weight[t] = expf(weight[t] - top);
        sum += (double)weight[t];
    }
#ifdef FIXED
    const int64_t multiplied = len;
#else
    const int64_t multiplied = padded;
#endif
    for (int64_t t = 0; !failed && t < multiplied; t++)
        for (int64_t i = 0; i < dim; i++)
            total[i] += (double)(weight[t] * bf16_to_float(p->key(p, b, h, t)[dim + i]));
    for (int64_t i = 0; !failed && i < dim; i++)
        p->out[(b * p->heads + h) * dim + i] = float_to_bf16((float)(total[i] / sum));
    free(weight);
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
        failed |= head_of_pages(&p, bh / heads, bh % heads);
    return failed;
}
