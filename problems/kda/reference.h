/* kda, the mathematics. For every (b, h), with S = 0 in R^{K x V}: at each t
 *     S <- diag(exp(g_t)) S;  S <- S + beta_t k_t (v_t - S^T k_t)^T;  o_t = K^{-1/2} S^T q_t.
 * Columns of S are independent: a chain is one (b, h), a column one of V. */

#define REF_RECURRENCE

enum { REF_ROWS_MOST = 192 }; /* rows of the state */

enum { KDA_Q, KDA_K, KDA_V, KDA_G, KDA_BETA, KDA_O };
enum { KDA_BATCH, KDA_T, KDA_HEADS, KDA_DK, KDA_DV };
enum { PART_VALUE, PART_REACH, PART_TRACE };
#define REF_STORED (PART_TRACE + 1)
enum { KDA_CHUNK = 128 }; /* the longest chunk that is admitted */

#include "reference/recurrence.h"

REF_FN int64_t ref_chains(const struct ref_context *c)
{
    return c->extent[KDA_BATCH] * c->extent[KDA_HEADS];
}

REF_FN int64_t ref_steps(const struct ref_context *c)
{
    return c->extent[KDA_T];
}

REF_FN int64_t ref_columns(const struct ref_context *c)
{
    return c->extent[KDA_DV];
}

REF_FN int64_t ref_state_rows(const struct ref_context *c)
{
    return c->extent[KDA_DK];
}

/* Flat index of (b, t, h) in the tensors' leading axes. */
REF_FN int64_t kda_at(const struct ref_context *c, int64_t chain, int64_t step)
{
    const int64_t heads = c->extent[KDA_HEADS], b = chain / heads, h = chain % heads;
    return (b * c->extent[KDA_T] + step) * heads + h;
}

REF_FN int64_t ref_index(const struct ref_context *c, int64_t chain, int64_t step, int64_t column)
{
    return kda_at(c, chain, step) * c->extent[KDA_DV] + column;
}

REF_FN struct ref_place ref_place_of(const struct ref_context *c, int64_t index)
{
    const int64_t heads = c->extent[KDA_HEADS], at = index / c->extent[KDA_DV];
    struct ref_place p;
    p.column = index % c->extent[KDA_DV];
    p.step = at / heads % c->extent[KDA_T];
    p.chain = at / heads / c->extent[KDA_T] * heads + at % heads;
    return p;
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return 20.0 * (double)c->extent[KDA_T] * (double)c->extent[KDA_DK];
}

#ifdef REF_TOUCH
#define REF_TOUCHES

/* The data of consecutive steps are a stride of all heads apart. */
REF_FN void ref_touch(const struct ref_context *c, int64_t chain, int64_t first, int64_t end, int64_t column)
{
    const int64_t dk = c->extent[KDA_DK];
    for (int64_t step = first + REF_LANE; step < end; step += REF_LANES) {
        const int64_t at = kda_at(c, chain, step);
        REF_TOUCH(REF_F32, c, KDA_G, at * dk, dk);
        REF_TOUCH(REF_BF16, c, KDA_K, at * dk, dk);
        REF_TOUCH(REF_BF16, c, KDA_Q, at * dk, dk);
        REF_TOUCH(REF_BF16, c, KDA_V, at * c->extent[KDA_DV] + column, 1);
        REF_TOUCH(REF_BF16, c, KDA_BETA, at, 1);
    }
}

#endif

/* Computes S <- diag(exp(g)) S and then S^T k. For the error model it also updates the spread of every state
 * element: the squares of all additions to it, with the same decay. Additions of the current chunk have their
 * own sum (`recent`): v' rounded as an operand errs where no later token of its chunk reads it. Every later
 * token mixes older additions like the state itself; `leak` is k's share of them. `added` begins as the sum
 * of (k_i S_i)^2, since S^T k may be small if its terms are not. */
REF_FN void kda_decay(const struct ref_context *c, int64_t base, struct ref_rows *rows, struct ref_step *s)
{
    double growth = 0, key = 0;
    for (int j = 0; j < REF_COLUMNS; j++) {
        s->dot[j] = real_of(0);
        s->leak[j] = s->added[j] = 0;
    }
    REF_EACH_ROW(i, c->extent[KDA_DK])
    {
        struct ref_row *row = REF_ROW(rows, i);
        const num decay = num_exp(num_of(REF_F32(c, KDA_G, base + i)));
        const double k = REF_BF16(c, KDA_K, base + i), e = num_mid(decay);
        const float e2 = (float)(e * e), k2 = (float)(k * k);
        for (int j = 0; j < REF_COLUMNS; j++) {
            row->state[j] = real_scale(row->state[j], decay);
            s->dot[j] = real_add_product(s->dot[j], row->state[j], k);
            const float x = (float)real_mid(row->state[j]);
            row->spread[j] *= e2;
            row->recent[j] *= e2;
            s->leak[j] += k2 * row->spread[j];
            s->added[j] += k2 * (x * x);
        }
        growth = e > growth ? e : growth;
        key += k * k;
    }
    s->growth = ref_lane_max(growth);
    s->key = sqrt(ref_lane_sum(key));
    ref_lane_reals(s->dot);
    ref_lane_floats(s->leak);
    ref_lane_floats(s->added);
}

/* At the end of a chunk its additions become part of the state. */
REF_FN void kda_settle(const struct ref_context *c, struct ref_rows *rows)
{
    REF_EACH_ROW(i, c->extent[KDA_DK])
    {
        struct ref_row *row = REF_ROW(rows, i);
        for (int j = 0; j < REF_COLUMNS; j++) {
            row->spread[j] += row->recent[j];
            row->recent[j] = 0;
        }
    }
}

/* Computes S <- S + k r^T with r = beta (v - S^T k), and then S^T q. The step adds (beta k_i)^2 `added` to
 * the spread of row i, and multiplies the state by I - beta k k^T. */
REF_FN void kda_update(const struct ref_context *c, int64_t base, double beta, struct ref_rows *rows,
                       struct ref_step *s)
{
    double query = 0, norm[REF_COLUMNS];
    real out[REF_COLUMNS];
    float spread[REF_COLUMNS];
    for (int j = 0; j < REF_COLUMNS; j++) {
        out[j] = real_of(0);
        norm[j] = spread[j] = 0;
    }
    REF_EACH_ROW(i, c->extent[KDA_DK])
    {
        struct ref_row *row = REF_ROW(rows, i);
        const double k = REF_BF16(c, KDA_K, base + i), q = REF_BF16(c, KDA_Q, base + i);
        const float k2 = (float)(k * k), q2 = (float)(q * q),
                    stays = (float)((1 - beta * k * k) * (1 - beta * k * k));
        const float enters = (float)(beta * beta * k * k);
        for (int j = 0; j < REF_COLUMNS; j++) {
            row->state[j] = real_add_product(row->state[j], s->residual[j], k);
            out[j] = real_add_product(out[j], row->state[j], q);
            const double x = real_mid(row->state[j]);
            norm[j] += x * x;
            row->spread[j] = stays * row->spread[j] + enters * (s->leak[j] - k2 * row->spread[j]);
            row->recent[j] += enters * s->added[j];
            spread[j] += q2 * (row->spread[j] + row->recent[j]);
        }
        query += q * q;
    }
    s->query = sqrt(ref_lane_sum(query));
    ref_own_reals(out, s->out);
    ref_own_doubles(norm, s->norm);
    ref_own_floats(spread, s->spread);
}

/* One step of REF_COLUMNS columns from `first` on, of which `count` exist. If `driven` is false, v is 0: this
 * shows the action of the step itself on a state. */
REF_FN void ref_step(const struct ref_context *c, int64_t chain, int64_t step, int64_t first, int64_t count,
                     bool driven, struct ref_rows *rows, struct ref_carry *carry, struct ref_step *s)
{
    const int64_t at = kda_at(c, chain, step), base = at * c->extent[KDA_DK];
    const double beta = REF_BF16(c, KDA_BETA, at);
    if (step % KDA_CHUNK == 0)
        kda_settle(c, rows);
    kda_decay(c, base, rows, s);
    for (int j = 0; j < REF_COLUMNS; j++) {
        const double v = driven && j < count ? REF_BF16(c, KDA_V, at * c->extent[KDA_DV] + first + j) : 0;
        const double size = fabs(v) + fabs(real_mid(s->dot[j]));
        s->residual[j] = real_scale(real_subtract(v, s->dot[j]), num_of(beta));
        s->added[j] += (float)(size * size);
    }
    kda_update(c, base, beta, rows, s);
    step_bound(s, carry, beta, (double)c->extent[KDA_DK]);
}

REF_FN void ref_element_of(const struct ref_context *c, const struct ref_step *s,
                           const struct ref_carry *carry, int j, struct ref_element *e)
{
    const double rows = (double)c->extent[KDA_DK];
    const bool exact = c->data == DATA_EXACT; /* all values are integers, and dk^-1/2 = 1/8 */
    const num scale = exact ? num_of(0.125) : num_div(num_of(1), num_sqrt(num_of(rows)));
    const double norm = sqrt(s->norm[j]) * (1 + rows * 0x1p-52);
    const double error = exact ? 0 : s->query * (carry->error[j] + (rows + 2) * 0x1p-53 * norm);
    e->value = num_mul(real_num(s->out[j], error), scale);
    e->part[PART_VALUE] = fabs(num_mid(e->value));
    e->part[PART_REACH] = sqrt((double)s->spread[j]) / sqrt(rows);
    e->part[PART_TRACE] = s->query * carry->peak[j] / sqrt(rows);
}

/* Operands of products are rounded to bf16, u = 2^-8. The output is a sum over rows i and tokens s of q_i
 * k_si v'_s, decayed, with v' = beta (v - S^T k). A kernel in chunks rounds about twelve times: q and k with
 * their decays (in P; again for and into the state), P, v', the state, W, U, the inverse and its operand, q
 * and k in A, and powers of A. One rounding of each term by |d| <= u errs by sum d x, where the norm |x| is
 * at most R,
 *     R^2 = sum_i q_i^2 sum_s (beta_s k_si)^2 (size_s)^2,   size^2 = (|v| + |S^T k|)^2 + sum_i (k_i S_i)^2,
 * decayed and mixed like the state itself: v' and S^T k may be small if their parts are not. The rounding of
 * v', shared by all rows, errs by sum_s (q . k_s) d, whose norm is R on average. If one token has a far
 * larger q . k_s than that, it makes up o. So the bound is
 *     4 u |o| + 8 u R.
 * With a single term, |o| = R, and that is the worst case of twelve roundings that agree. With many terms, d
 * has deviation 0.42 u, and twelve of them have 1.5 u R. Then 8 u R alone is above five deviations of a
 * kernel that rounds everything. A kernel in fp32 throughout gets the same bound with 0.05.
 *
 * A state kept in fewer bits errs by sqrt(n) roundings in n tokens of memory, or does not decay at all.
 *
 * R includes every row's own decay and the tokens' mixing. With a token's largest decay for all rows it would
 * grow without bound on the published g, whose largest of 128 channels is above 0 at every token.
 *
 * Rows that were never written, or have decayed to nothing, have R = 0 beside large ones. So 2^-24 of the
 * largest state so far is allowed everywhere. The enclosure needs this, too: it has one norm for all rows,
 * and 80 units of 2^-53 per token are up to 2^-33 of it after 16384 tokens. Integers have no error at all
 * (problem.c). */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    const double bf16 = 0x1p-8, share = a->operand == 0 ? 0.05 : a->d < 0x1p-12 ? 1 : 8;
    if (c->data == DATA_EXACT)
        return 0;
    return (a->operand == 0 ? 0x1p-20 : 4 * bf16) * e->part[PART_VALUE] +
           share * 8 * bf16 * e->part[PART_REACH] + 0x1p-24 * e->part[PART_TRACE] + 0x1p-126;
}
