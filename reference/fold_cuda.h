/* The enclosure of folds on the GPU, a part of enclosure_cuda.cu. A thread (or with REF_TOGETHER a warp)
 * computes one part of the terms. Then a block per fold merges the parts. */
#include "fold.h"

#ifdef REF_TOGETHER
enum { TERM_LANES = 32 };
#else
enum { TERM_LANES = 1 };
#endif
enum { PARTS = TERM_LANES > 1 ? 1 << 14 : 1 << 17 }; /* over all folds together, but at least one each */

REF_FN int64_t fold_parts(const struct ref_context *c)
{
    const int64_t folds = ref_folds(c);
    return folds > 0 && folds < PARTS ? PARTS / folds : 1;
}

/* The folds to judge. */
REF_FN struct fold_terms folds_of(const struct work *w)
{
    struct fold_terms folds;
    folds.first = w->request.only_row ? w->request.only_row - 1 : 0;
    folds.end = w->request.only_row ? w->request.only_row : ref_folds(&w->request.context);
    return folds;
}

/* Adjacent threads take adjacent terms: part p has the terms p, p + `parts`, .. */
static __global__ void __launch_bounds__(THREADS) fold_kernel(const __grid_constant__ struct work w)
{
    const struct ref_context *c = &w.request.context;
    const struct fold_terms folds = folds_of(&w);
    const int64_t parts = fold_parts(c), count = (folds.end - folds.first) * parts;
    struct ref_fold *out = (struct ref_fold *)w.scratch;

    for (int64_t i = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / TERM_LANES; i < count;
         i += (int64_t)gridDim.x * (THREADS / TERM_LANES)) {
        const int64_t fold = folds.first + i / parts;
        const struct fold_terms t = fold_terms_of(c, fold);
        struct ref_fold state;
        ref_fold_start(&state);
        for (int64_t term = t.first + i % parts; term < t.end; term += parts)
            ref_fold_term(c, fold, term, &state);
        if (threadIdx.x % TERM_LANES == 0)
            out[i] = state;
    }
}

/* Merges all parts into part[0]: each thread merges parts THREADS apart, then a tree reduction follows. */
REF_FN void fold_merge_parts(struct ref_fold *part, int64_t parts)
{
    int64_t width = parts < THREADS ? parts : THREADS;
    for (int64_t p = threadIdx.x + THREADS; p < parts; p += THREADS)
        ref_fold_merge(&part[threadIdx.x], &part[p]);
    __syncthreads();
    while (width > 1) {
        const int64_t half = (width + 1) / 2;
        if (threadIdx.x + half < width)
            ref_fold_merge(&part[threadIdx.x], &part[threadIdx.x + half]);
        __syncthreads();
        width = half;
    }
}

static __global__ void __launch_bounds__(THREADS) judge_kernel(const __grid_constant__ struct work w)
{
    const struct ref_context *c = &w.request.context;
    const struct fold_terms folds = folds_of(&w);
    const int64_t parts = fold_parts(c);
    struct error_stats tally = error_stats_zero();

    for (int64_t fold = folds.first + blockIdx.x; fold < folds.end; fold += gridDim.x) {
        struct ref_fold *part = (struct ref_fold *)w.scratch + (fold - folds.first) * parts;
        fold_merge_parts(part, parts);
        if (threadIdx.x == 0) {
            struct ref_element e;
            e.kept = false;
            ref_fold_finish(c, fold, part, &e);
            judge_element(&w, &tally, &e, fold);
        }
    }
    merge_block(&w, &tally);
}

static __global__ void shape_kernel(const __grid_constant__ struct ref_context c, int64_t *out)
{
    out[0] = ref_folds(&c);
    out[1] = fold_parts(&c);
}
