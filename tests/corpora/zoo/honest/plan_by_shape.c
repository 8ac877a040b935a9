// zoo: honest
// problem: topk
// does: keeps a plan for each shape it has met, without pointers in it
// expect: general
// timing: yes

#include "../topk.h"
#include <stdlib.h>

struct plan {
    struct plan *next;
    int64_t rows, n, k, batch;
};

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    static struct plan *plans;
    struct plan *p = plans;
    while (p && (p->rows != rows || p->n != n || p->k != k))
        p = p->next;
    if (!p && (p = malloc(sizeof *p))) {
        *p = (struct plan){plans, rows, n, k, 1 + 4096 / n};
        plans = p;
    }
    for (int64_t r = 0; p && r < rows; r += p->batch)
        honest(x + r * n, values + r * k, indices + r * k, rows - r < p->batch ? rows - r : p->batch, n, k, stream);
    return p ? 0 : 1;
}
