/* Reductions over lanes on a GPU, a part of enclosure_cuda.cu. ref_all_ reduces over a block, ref_lane_ over
 * a warp; every lane gets the result. ref_own_ sums for the lanes that own a column. */

REF_FN void ref_barrier(void)
{
    __syncthreads();
}

REF_FN double ref_all_sum(double x)
{
    __shared__ double partial[WARPS];
    for (int offset = 16; offset; offset /= 2)
        x += __shfl_xor_sync(~0u, x, offset);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = x;
    __syncthreads();
    x = 0;
    for (int w = 0; w < WARPS; w++)
        x += partial[w];
    __syncthreads();
    return x;
}

REF_FN double ref_all_max(double x)
{
    __shared__ double partial[WARPS];
    for (int offset = 16; offset; offset /= 2)
        x = fmax(x, __shfl_xor_sync(~0u, x, offset));
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = x;
    __syncthreads();
    x = partial[0];
    for (int w = 1; w < WARPS; w++)
        x = fmax(x, partial[w]);
    __syncthreads();
    return x;
}

REF_FN bool ref_all_any(bool x)
{
    return __syncthreads_or(x);
}

/* Reductions over a warp. */
REF_FN double ref_lane_sum(double x)
{
    for (int offset = 16; offset; offset /= 2)
        x += __shfl_xor_sync(~0u, x, offset);
    return x;
}

REF_FN double ref_lane_max(double x)
{
    for (int offset = 16; offset; offset /= 2)
        x = fmax(x, __shfl_xor_sync(~0u, x, offset));
    return x;
}

REF_FN void ref_lane_acc(struct acc *x)
{
    x->sum = ref_lane_sum(x->sum);
    x->magnitude = ref_lane_sum(x->magnitude);
    x->square = ref_lane_sum(x->square);
    x->rad = ref_lane_sum(x->rad);
    x->terms = ref_lane_sum(x->terms);
}

/* Sums over a warp of REF_COLUMNS values per lane. Each lane gets the sum of one column, its number modulo
 * REF_COLUMNS. A lane keeps half of the columns, its partner the other half, and so on. */
template <typename T> static __device__ __forceinline__ T own_sum(const T *x)
{
    T v[REF_COLUMNS];
#pragma unroll
    for (int j = 0; j < REF_COLUMNS; j++)
        v[j] = x[j];
#pragma unroll
    for (int half = REF_COLUMNS / 2; half; half /= 2) {
        const bool upper = threadIdx.x & half;
#pragma unroll
        for (int j = 0; j < half; j++)
            v[j] = (upper ? v[j + half] : v[j]) + __shfl_xor_sync(~0u, upper ? v[j] : v[j + half], half);
    }
#pragma unroll
    for (int offset = REF_COLUMNS; offset < 32; offset *= 2)
        v[0] += __shfl_xor_sync(~0u, v[0], offset);
    return v[0];
}

/* Every lane gets the sums of all columns. */
template <typename T> static __device__ __forceinline__ void all_sums(T *x)
{
    const T own = own_sum(x);
#pragma unroll
    for (int j = 0; j < REF_COLUMNS; j++)
        x[j] = __shfl_sync(~0u, own, j);
}

REF_FN int ref_owned(int j)
{
    return (int)threadIdx.x % REF_COLUMNS + j;
}

/* x[ref_owned(j)], selected without an address, so that x stays in registers. */
REF_FN real ref_pick(const real *x, int j)
{
    real picked = x[0];
#pragma unroll
    for (int i = 1; i < REF_COLUMNS; i++)
        picked = ref_owned(j) == i ? x[i] : picked;
    return picked;
}

REF_FN void ref_lane_reals(real *x)
{
    all_sums(x);
}
REF_FN void ref_lane_floats(float *x)
{
    all_sums(x);
}
REF_FN void ref_own_reals(const real *x, real *own)
{
    *own = own_sum(x);
}
REF_FN void ref_own_doubles(const double *x, double *own)
{
    *own = own_sum(x);
}
REF_FN void ref_own_floats(const float *x, float *own)
{
    *own = own_sum(x);
}

REF_FN void ref_all_acc(struct acc *x)
{
    x->sum = ref_all_sum(x->sum);
    x->magnitude = ref_all_sum(x->magnitude);
    x->square = ref_all_sum(x->square);
    x->rad = ref_all_sum(x->rad);
    x->terms = ref_all_sum(x->terms);
}
