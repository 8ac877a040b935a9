/* The enclosure of a recurrence on the GPU, one warp per REF_COLUMNS columns: a part of enclosure_cuda.cu. */

/* The number of this warp, and the number of warps in the grid. */
static __device__ __forceinline__ int64_t first_task(void)
{
    return blockIdx.x * (int64_t)BLOCK_WARPS + threadIdx.x / 32;
}

static __device__ __forceinline__ int64_t task_stride(void)
{
    return gridDim.x * (int64_t)BLOCK_WARPS;
}

/* Number of column groups; a warp takes one group at a time. */
static __device__ __forceinline__ int64_t groups_of(int64_t columns)
{
    return (columns + REF_COLUMNS - 1) / REF_COLUMNS;
}

/* Applies the steps of one span to columns of the identity, and adds to the squared Frobenius norms. */
static __global__ void __launch_bounds__(BLOCK_THREADS) span_kernel(const __grid_constant__ struct work w)
{
    const struct ref_context *c = &w.request.context;
    const int64_t steps = ref_steps(c), parts = (steps + SPAN - 1) / SPAN, n = ref_state_rows(c);
    const int64_t only = w.request.only_row - 1, groups = groups_of(n);
    const int64_t chain0 = only < 0 ? 0 : only / ref_columns(c);
    const int64_t tasks = (only < 0 ? ref_chains(c) : 1) * parts * groups;
    double *spans = (double *)w.scratch;

    for (int64_t i = first_task(); i < tasks; i += task_stride()) {
        const int64_t part = i / groups % parts, chain = chain0 + i / groups / parts;
        const int64_t from = part * SPAN, to = from + SPAN < steps ? from + SPAN : steps;
        struct ref_rows rows;
        struct ref_carry carry;
        struct ref_step s;
        rows_identity(&rows, &carry, i % groups * REF_COLUMNS, n);
        for (int64_t t = from; t < to; t++) {
            ref_step(c, chain, t, 0, REF_COLUMNS, false, &rows, &carry, &s);
            double norm = carry.norm[0] + carry.error[0];
            norm *= norm;
            for (int offset = 1; offset < REF_COLUMNS; offset *= 2)
                norm += __shfl_xor_sync(~0u, norm, offset);
            if (REF_LANE == 0)
                atomicAdd(&spans[chain * steps + t], norm);
        }
    }
}

/* A lane judges one column of one step; a warp judges the last KEPT steps at once. */
enum { KEPT = 32 / REF_COLUMNS };

struct kept {
    struct ref_step step;
    struct ref_carry carry;
};

static __device__ __forceinline__ void judge_kept(const struct work *w, struct error_stats *tally,
                                                  const struct kept *kept, int64_t chain, int64_t last,
                                                  int64_t group)
{
    const struct ref_context *c = &w->request.context;
    const int64_t step = last - last % KEPT + REF_LANE / REF_COLUMNS;
    const int64_t column = group * REF_COLUMNS + ref_owned(0);
    if (step <= last && column < ref_columns(c)) {
        struct ref_element e;
        e.kept = false;
        ref_element_of(c, &kept->step, &kept->carry, 0, &e);
        judge_element(w, tally, &e, ref_index(c, chain, step, column));
    }
    __syncwarp();
}

static __global__ void __launch_bounds__(BLOCK_THREADS) judge_kernel(const __grid_constant__ struct work w)
{
    const struct ref_context *c = &w.request.context;
    const int64_t columns = ref_columns(c), groups = groups_of(columns), steps = ref_steps(c);
    const int64_t only = w.request.only_row - 1;
    const int64_t chosen = only / columns * groups + only % columns / REF_COLUMNS;
    const int64_t first = only < 0 ? 0 : chosen, end = only < 0 ? ref_chains(c) * groups : chosen + 1;
    struct error_stats tally = error_stats_zero();

    for (int64_t i = first + first_task(); i < end; i += task_stride()) {
        const int64_t chain = i / groups, left = columns - i % groups * REF_COLUMNS;
        const double *spans = (const double *)w.scratch + chain * steps;
        struct ref_rows rows;
        struct ref_carry carry;
        struct ref_step s;
        struct kept kept;
        rows_clear(&rows, &carry);
        for (int64_t t = 0; t < steps; t++) {
            if (t % SPAN == 0)
                carry_restart(&carry);
            carry.span = sqrt(spans[t]);
            ref_step(c, chain, t, i % groups * REF_COLUMNS, left < REF_COLUMNS ? left : REF_COLUMNS, true,
                     &rows, &carry, &s);
            if (REF_LANE / REF_COLUMNS == t % KEPT) {
                kept.step = s;
                kept.carry = carry;
            }
            if (t % KEPT == KEPT - 1 || t == steps - 1)
                judge_kept(&w, &tally, &kept, chain, t, i % groups);
        }
    }
    merge_block(&w, &tally);
}

static __global__ void shape_kernel(const __grid_constant__ struct ref_context c, int64_t *out)
{
    out[0] = (ref_chains(&c) * groups_of(ref_columns(&c)) + BLOCK_WARPS - 1) / BLOCK_WARPS;
    out[1] = ref_chains(&c) * ref_steps(&c);
}
