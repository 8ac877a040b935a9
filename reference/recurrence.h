/* Support for a reference.h that is a recurrence: columns of a state, carried from step to step.
 * REF_COLUMNS columns are processed side by side, and their rows are distributed over the lanes. A lane owns
 * REF_OWN columns and keeps their column-wide quantities; ref_owned(j) names them.
 *
 * The state's numbers are `real`: midpoints without a radius. A radius per number would grow by about
 * 1 + beta |k|^2 per step and explode. Instead every column has one bound on its Euclidean distance from the
 * exact column (ref_carry). A step multiplies the bound by the norm of its matrix and adds its own
 * roundings. */
#ifndef UNSEEN_RECURRENCE_H
#define UNSEEN_RECURRENCE_H

struct ref_place {
    int64_t chain, step, column;
};

/* One row of the state. */
struct ref_row {
    real state[REF_COLUMNS];
    float spread[REF_COLUMNS], recent[REF_COLUMNS]; /* for the error model: squares of magnitudes */
};

/* The rows of one lane. */
struct ref_rows {
    struct ref_row row[(REF_ROWS_MOST + REF_LANES_LEAST - 1) / REF_LANES_LEAST];
};
#define REF_ROW(rows, i) (&(rows)->row[(i) / REF_LANES_LEAST])

/* Loops over a lane's rows i < n. In a kernel the rows are in registers, so the loop has a fixed length. */
#ifdef __CUDACC__
#define REF_EACH_ROW(i, n)                                                                                   \
    _Pragma("unroll") for (int i = (int)REF_LANE; i < (int)REF_LANE + REF_ROWS_MOST;                         \
                           i += REF_LANES_LEAST) if (i < (n))
#else
#define REF_EACH_ROW(i, n) for (int64_t i = REF_LANE; i < (n); i += REF_LANES)
#endif

/* Results of a step; sums are over all rows. */
struct ref_step {
    double growth;              /* the largest decay factor */
    double key, query;          /* |k|, |q| */
    real dot[REF_COLUMNS];      /* S^T k after the decay */
    real residual[REF_COLUMNS]; /* beta (v - dot) */
    float leak[REF_COLUMNS], added[REF_COLUMNS];
    real out[REF_OWN];    /* S^T q after the update */
    double norm[REF_OWN]; /* |S|^2 after the update */
    float spread[REF_OWN];
};

/* Error bounds of each column. The norm of a step is at most the largest decay times max(1, |1 - beta
 * |k|^2|). If some channels grow while most decay, a product of such norms far exceeds the norm of the
 * product. So `spans[t]` bounds the squared Frobenius norm of that product as well. It covers the steps from
 * the start of t's span of SPAN steps through t (measure_spans). */
enum { SPAN = 64 };
struct ref_carry {
    double norm[REF_OWN];  /* norm of the columns after the previous step */
    double peak[REF_OWN];  /* maximum of that norm so far */
    double error[REF_OWN]; /* current bound */
    double start[REF_OWN]; /* bound at the start of the span */
    double fresh[REF_OWN]; /* accumulated roundings since then */
    double span;           /* bound on the norm of the span's steps so far; INFINITY: unknown */
};

REF_FN void rows_clear(struct ref_rows *rows, struct ref_carry *carry)
{
    for (size_t i = 0; i < sizeof rows->row / sizeof *rows->row; i++)
        for (int j = 0; j < REF_COLUMNS; j++) {
            rows->row[i].state[j] = real_of(0);
            rows->row[i].spread[j] = rows->row[i].recent[j] = 0;
        }
    for (int j = 0; j < REF_OWN; j++)
        carry->norm[j] = carry->peak[j] = carry->error[j] = carry->start[j] = carry->fresh[j] = 0;
    carry->span = INFINITY;
}

/* Sets the state to columns `first`, .. of the identity, which show the action of the steps themselves. */
REF_FN void rows_identity(struct ref_rows *rows, struct ref_carry *carry, int64_t first, int64_t n)
{
    rows_clear(rows, carry);
    REF_EACH_ROW(i, n)
    for (int j = 0; j < REF_COLUMNS; j++)
        REF_ROW(rows, i)->state[j] = i == first + j ? real_of(1) : real_of(0);
    for (int j = 0; j < REF_OWN; j++)
        carry->norm[j] = first + ref_owned(j) < n;
}

/* Bounds one step. With u = 2^-53, S the columns before and S+ after the step, K rows: the exponentials err
 * by 4 u, the decayed elements by 6 u of themselves. S^T k errs by (K+2) u |S| |k|, the residual by 3 u of
 * itself, the update by u (|k| |r| + |S+|). Sizes are rounded up by far more than their own roundings. */
REF_FN void step_bound(const struct ref_step *s, struct ref_carry *carry, double beta, double rows)
{
    const double u = 0x1p-53, up = 1 + 0x1p-40;
    const double turn = fabs(1 - beta * s->key * s->key), matrix = (turn > 1 ? turn : 1) * up;
    for (int j = 0; j < REF_OWN; j++) {
        const double decayed = s->growth * carry->norm[j] * up, r = fabs(real_mid(ref_pick(s->residual, j)));
        const double norm = sqrt(s->norm[j]) * up;
        const double inner = fabs(beta) * (rows + 2) * u * decayed * s->key + 3 * u * r;
        const double own = (matrix * 6 * u * decayed + s->key * inner + u * (s->key * r + norm)) * up;
        const double step = matrix * s->growth * up;
        carry->fresh[j] = step * carry->fresh[j] + own;
        const double product = step * carry->error[j] + own;
        const double known = carry->span * up * carry->start[j] + carry->fresh[j];
        carry->error[j] = known < product ? known : product;
        carry->norm[j] = norm;
        carry->peak[j] = norm > carry->peak[j] ? norm : carry->peak[j];
    }
}

/* Starts a new span after this step. */
REF_FN void carry_restart(struct ref_carry *carry)
{
    for (int j = 0; j < REF_OWN; j++) {
        carry->start[j] = carry->error[j];
        carry->fresh[j] = 0;
    }
}

#endif
