/* The enclosure on the GPU, one block per row: a part of enclosure_cuda.cu. */
static __global__ void __launch_bounds__(THREADS) judge_kernel(const __grid_constant__ struct work w)
{
    struct error_stats tally = error_stats_zero();
    const struct ref_context *c = &w.request.context;
    const int64_t only = w.request.only_row, width = ref_width(c);
    const int64_t first = only ? only - 1 : 0, end = only ? only : ref_rows(c);
    num *scratch = w.scratch + blockIdx.x * w.scratch_count;

    for (int64_t row = first + blockIdx.x; row < end; row += gridDim.x) {
        struct ref_state state;
        ref_prepare(c, row, scratch, &state);
        for (int64_t j = threadIdx.x; j < width; j += THREADS) {
#ifdef REF_DISCRETE
            const struct element_verdict v = ref_verdict(c, row, j, scratch, &state);
            judge_verdict(&w, &tally, &v, row * width + j);
#else
            struct ref_element e;
            e.kept = false;
            ref_elements(c, row, j, 1, scratch, &state, &e);
            judge_element(&w, &tally, &e, row * width + j);
#endif
        }
        __syncthreads(); /* the next row reuses the scratch */
    }
    merge_block(&w, &tally);
}

static __global__ void shape_kernel(const __grid_constant__ struct ref_context c, int64_t *out)
{
    out[0] = ref_rows(&c);
    out[1] = ref_scratch(&c);
}
