// problem: topk
// link: https://github.com/NVIDIA/raft/pull/2974
// title: [REVIEW] Fix l_offset overflow in select_k kernels for 32-bit IdxT
// condition: a row begins 2^32 elements or more behind the matrix's begin; sized down to 2^20
// kind: overflow
// when: (rows - 1) * n >= 1048576
// side: necessary
// collection: fourth
// wrong: wrong values: the row's offset is of the type of indices and wraps, and an earlier row is read

#define topk honest_topk
#include "../../../problems/topk/baseline.c"
#undef topk

/* Of so many values are indices, and in_idx_t() brings a number to their type. */
#define IDX_VALUES ((int64_t)1 << 20)

static int64_t in_idx_t(int64_t number)
{
    return number & (IDX_VALUES - 1);
}

/* Rows of equal length, one after another. `offset` is that of the batch's first row. */
struct dense_layout {
    const float *in;
    int64_t offset, len;
};

static const float *row_of(const struct dense_layout *layout, int64_t batch_id)
{
    const int64_t l_offset = (layout->offset + batch_id) * layout->len;
#ifdef FIXED
    (void)in_idx_t;
    return layout->in + l_offset;
#else
    return layout->in + in_idx_t(l_offset);
#endif
}

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    const struct dense_layout layout = {x, 0, n};
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * n > 8192)
    for (int64_t r = 0; r < rows; ++r)
        row_topk(row_of(&layout, r), values + r * k, indices + r * k, n, k);
    return 0;
}
