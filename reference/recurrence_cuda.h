/* The enclosure of a recurrence on the GPU, a warp to a column: a part of enclosure_cuda.cu. */

/* A column of the identity through the steps of one span: adds to the squared Frobenius norms. */
static __global__ void __launch_bounds__(THREADS) span_kernel(const __grid_constant__ struct work w)
{
    const struct ref_context *c = &w.request.context;
    const int64_t steps = ref_steps(c), parts = (steps + SPAN - 1) / SPAN, n = ref_state_rows(c);
    const int64_t only = w.request.only_row - 1;
    const int64_t chain0 = only < 0 ? 0 : only / ref_columns(c);
    const int64_t tasks = (only < 0 ? ref_chains(c) : 1) * parts * n;
    double *spans = (double *)w.scratch;

    for (int64_t i = blockIdx.x * (int64_t)WARPS + threadIdx.x / 32; i < tasks; i += gridDim.x * (int64_t)WARPS) {
        const int64_t column = i % n, part = i / n % parts, chain = chain0 + i / n / parts;
        const int64_t from = part * SPAN, to = from + SPAN < steps ? from + SPAN : steps;
        struct ref_rows rows;
        struct ref_carry carry;
        struct ref_step s;
        rows_clear(&rows, &carry);
        if (column % REF_LANES == REF_LANE)
            rows.row[column / REF_LANES].state[0] = 1;
        carry.norm[0] = 1;
        for (int64_t t = from; t < to; t++) {
            ref_step(c, chain, t, 0, 1, false, &rows, &carry, &s);
            const double norm = carry.norm[0] + carry.error[0];
            if (REF_LANE == 0)
                atomicAdd(&spans[chain * steps + t], norm * norm);
        }
    }
}

static __global__ void __launch_bounds__(THREADS) judge_kernel(const __grid_constant__ struct work w)
{
    const struct ref_context *c = &w.request.context;
    const int64_t columns = ref_columns(c), steps = ref_steps(c), only = w.request.only_row - 1;
    const int64_t first = only < 0 ? 0 : only, end = only < 0 ? ref_chains(c) * columns : only + 1;
    struct tally tally = tally_zero();

    for (int64_t i = first + blockIdx.x * (int64_t)WARPS + threadIdx.x / 32; i < end;
         i += gridDim.x * (int64_t)WARPS) {
        const int64_t chain = i / columns;
        const double *spans = (const double *)w.scratch + chain * steps;
        struct ref_rows rows;
        struct ref_carry carry;
        struct ref_step s;
        rows_clear(&rows, &carry);
        for (int64_t t = 0; t < steps; t++) {
            if (t % SPAN == 0)
                carry_restart(&carry);
            carry.span = sqrt(spans[t]);
            ref_step(c, chain, t, i % columns, 1, true, &rows, &carry, &s);
            if (REF_LANE == 0) {
                struct ref_element e;
                ref_element_of(c, &s, &carry, 0, &e);
                judge_element(&w, &tally, &e, ref_index(c, chain, t, i % columns));
            }
        }
    }
    merge_block(&w, &tally);
}

static __global__ void shape_kernel(const __grid_constant__ struct ref_context c, int64_t *out)
{
    out[0] = (ref_chains(&c) * ref_columns(&c) + WARPS - 1) / WARPS;
    out[1] = ref_chains(&c) * ref_steps(&c);
}
