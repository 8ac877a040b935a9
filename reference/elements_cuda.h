/* The enclosure on the GPU, one thread per element: a part of enclosure_cuda.cu. */
static __global__ void __launch_bounds__(THREADS) judge_kernel(const __grid_constant__ struct work w)
{
    struct error_stats tally = error_stats_zero();
    const struct ref_context *c = &w.request.context;
    const int64_t count = ref_count(c), stride = (int64_t)gridDim.x * THREADS;

    for (int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x; i < count; i += stride) {
        struct ref_element e;
        e.kept = false;
        ref_element(c, i, &e);
        judge_element(&w, &tally, &e, i);
    }
    merge_block(&w, &tally);
}

static __global__ void shape_kernel(const __grid_constant__ struct ref_context c, int64_t *out)
{
    out[0] = (ref_count(&c) + THREADS - 1) / THREADS;
    out[1] = 0;
}
