/* kda with switches, on the host: threads over heads. */
#include "honest.h"
#include "kda.h"

int kda(const uint16_t *q, const uint16_t *k, const uint16_t *v, const float *g, const uint16_t *beta,
        uint16_t *o, int64_t batch, int64_t t, int64_t heads, int64_t dk, int64_t dv, void *stream);

int kda(const uint16_t *q, const uint16_t *k, const uint16_t *v, const float *g, const uint16_t *beta,
        uint16_t *o, int64_t batch, int64_t t, int64_t heads, int64_t dk, int64_t dv, void *stream)
{
    const struct kda_plan plan = kda_plan_of(honest_choice, honest_mutating);
    int failed = 0;
    (void)stream;
#pragma omp parallel reduction(| : failed)
    {
        struct kda_work *work = malloc(sizeof *work);
        failed |= !work;
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < batch * heads; i++) {
            const struct kda_head h = kda_head_of(q, k, v, g, beta, o, honest_unrounded, t, heads, dk, dv, i);
            if (work)
                kda_run(&plan, work, &h);
        }
        free(work);
    }
    return failed;
}
