/* paged_attention, the mathematics: out[b,h,:] = sum_t w_t v_t / sum_t w_t with
 * w_t = exp(s_t - shift), s_t = q . k_t / sqrt(D), over the tokens t < seq_lens[b]; token t lies in
 * page block_table[b][t / P], slot t % P. Any shift gives the same result; the largest score is used. */

enum { PAGED_QUERY, PAGED_KV, PAGED_TABLE, PAGED_LENS, PAGED_OUT };
enum { PAGED_BATCH, PAGED_HEADS, PAGED_KV_HEADS, PAGED_DIM, PAGED_PAGE, PAGED_PAGES, PAGED_PER_SEQ };
enum {
    PART_VALUE,
    PART_WEIGHTED,
    PART_NORM,
    PART_DISTANCE,
    PART_SPREAD,
    PART_SCORE,
    PART_LENGTH,
    PART_WEIGHT_NORM
};

struct ref_state {
    int64_t b, kv_head, length;
    num sum;
    double weight_norm;   /* ||w||_2 / sum w */
    double mean_distance; /* sum w (max s - s) / sum w */
    double score_size;    /* largest max(|s|, ||q k||_2 / sqrt(D)) over the tokens that matter */
};

REF_FN int64_t ref_rows(const struct ref_context *c)
{
    return c->extent[PAGED_BATCH] * c->extent[PAGED_HEADS];
}

REF_FN int64_t ref_width(const struct ref_context *c)
{
    return c->extent[PAGED_DIM];
}

REF_FN int64_t paged_capacity(const struct ref_context *c)
{
    return c->extent[PAGED_PER_SEQ] * c->extent[PAGED_PAGE];
}

/* For every token: its weight; how far its score lies below the largest; where its key is. */
REF_FN int64_t ref_scratch(const struct ref_context *c)
{
    return 3 * paged_capacity(c);
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return (double)paged_capacity(c) * ((double)c->extent[PAGED_DIM] + 18);
}

/* Offset of the key of token t; its value follows D elements later. */
REF_FN int64_t paged_key(const struct ref_context *c, int64_t b, int64_t t, int64_t kv_head)
{
    const int64_t size = c->extent[PAGED_PAGE];
    const int64_t page = REF_I32(c, PAGED_TABLE, b * c->extent[PAGED_PER_SEQ] + t / size);
    return ((page * size + t % size) * c->extent[PAGED_KV_HEADS] + kv_head) * 2 * c->extent[PAGED_DIM];
}

REF_FN int64_t paged_kv_head(const struct ref_context *c, int64_t row)
{
    const int64_t heads = c->extent[PAGED_HEADS];
    return row % heads / (heads / c->extent[PAGED_KV_HEADS]);
}

#ifdef REF_TOUCH
#define REF_TOUCHES

/* The tokens of a sequence, key and value side by side, are scattered over the cache. */
REF_FN void ref_touch(const struct ref_context *c, int64_t row)
{
    const int64_t b = row / c->extent[PAGED_HEADS], kv_head = paged_kv_head(c, row);
    const int64_t length = REF_I32(c, PAGED_LENS, b);
    for (int64_t t = REF_LANE; t < length; t += REF_LANES)
        REF_TOUCH(REF_BF16, c, PAGED_KV, paged_key(c, b, t, kv_head), 2 * c->extent[PAGED_DIM]);
}

#endif

/* The score of a token from its q . k; *size is max(|s|, ||q k||_2 / sqrt(D)), what its accumulation error
 * scales with (T2). */
REF_FN num paged_score(const struct acc *dot, num root, double *size)
{
    const num score = num_div(acc_num(dot, 0), root);
    const double norm = sqrt(dot->square) / num_mid(root), s = fabs(num_mid(score));
    *size = s > norm ? s : norm;
    return score;
}

/* Tokens are taken REF_GROUP at a time. */
REF_FN int paged_group(int64_t length, int64_t t)
{
    return length - t < REF_GROUP ? (int)(length - t) : REF_GROUP;
}

REF_FN void ref_prepare(const struct ref_context *c, int64_t row, num *scratch, struct ref_state *state)
{
    const int64_t capacity = paged_capacity(c), dim = c->extent[PAGED_DIM];
    double max = -INFINITY, largest = 0, weighted = 0;
    const num root = num_sqrt(num_of((double)dim));
    struct acc sum = acc_zero();

    state->b = row / c->extent[PAGED_HEADS];
    state->kv_head = paged_kv_head(c, row);
    state->length = REF_I32(c, PAGED_LENS, state->b);
    for (int64_t t = REF_LANE * REF_GROUP; t < state->length; t += REF_LANES * REF_GROUP) {
        const int group = paged_group(state->length, t);
        int64_t key[REF_GROUP] = {0};
        struct acc dot[REF_GROUP];
        for (int i = 0; i < group; i++)
            key[i] = paged_key(c, state->b, t + i, state->kv_head);
        ref_dots_bf16(c, PAGED_QUERY, row * dim, PAGED_KV, key, group, dim, dot);
        for (int i = 0; i < group; i++) {
            double size;
            scratch[t + i] = paged_score(&dot[i], root, &size);
            scratch[2 * capacity + t + i] = num_of((double)key[i]);
            max = num_mid(scratch[t + i]) > max ? num_mid(scratch[t + i]) : max;
            largest = size > largest ? size : largest;
        }
    }
    max = ref_all_max(max);
    state->score_size = ref_all_max(largest);
    for (int64_t t = REF_LANE; t < state->length; t += REF_LANES) {
        const double distance = max - num_mid(scratch[t]);
        scratch[t] = num_exp(num_sub(scratch[t], num_of(max)));
        scratch[capacity + t] = num_of(distance);
        acc_add(&sum, scratch[t]);
        weighted += num_mid(scratch[t]) * distance;
    }
    ref_all_acc(&sum);
    state->sum = acc_num(&sum, 0);
    state->mean_distance = ref_all_sum(weighted) / num_mid(state->sum);
    state->weight_norm = sqrt(sum.square) / num_mid(state->sum);
    ref_barrier(); /* every lane's weights are needed by all */
}

REF_FN void ref_elements(const struct ref_context *c, int64_t row, int64_t first, int64_t count,
                         const num *scratch, const struct ref_state *state, struct ref_element *e)
{
    /* beside the sums of w v: sum w |v| (max s - s), since exponentials far below the maximum err more */
    struct block block = block_zero();
    const double total = num_mid(state->sum);
    const int64_t capacity = paged_capacity(c);
    (void)row;

    for (int64_t t = 0; t < state->length; t += REF_GROUP) {
        const int group = paged_group(state->length, t);
        int64_t value[REF_GROUP] = {0};
        double extra[REF_GROUP];
        for (int i = 0; i < group; i++) {
            value[i] = (int64_t)num_mid(scratch[2 * capacity + t + i]) + c->extent[PAGED_DIM] + first;
            extra[i] = num_mid(scratch[t + i]) * num_mid(scratch[capacity + t + i]);
        }
        block_add_bf16(&block, c, &scratch[t], extra, PAGED_KV, value, group, count);
    }
    for (int64_t j = 0; j < count; j++) {
        const struct acc out = block_acc(&block, j);
        e[j].value = num_div(acc_num(&out, 0), state->sum);
        e[j].part[PART_VALUE] = fabs(num_mid(e[j].value));
        e[j].part[PART_WEIGHTED] = out.magnitude / total;
        e[j].part[PART_NORM] = sqrt(out.square) / total;
        e[j].part[PART_DISTANCE] = block.extra[j] / total;
        e[j].part[PART_SPREAD] = state->mean_distance;
        e[j].part[PART_SCORE] = state->score_size;
        e[j].part[PART_LENGTH] = (double)state->length;
        e[j].part[PART_WEIGHT_NORM] = state->weight_norm;
    }
}

/* Every relative error e_t of a weight w_t, w_t = p_t / sum p, reaches the output as sum e_t w_t v_t (where the
 * denominator does not have it) or as sum e_t w_t (v_t - out). With o = |out|, A = sum w |v|, B = ||w v||_2,
 * C = ||w||_2 and the reach A + o, in any order of sums, split and merged in any way:
 *   scores: the accumulation of D products (T2), then roundings of the scale, of log2 e, of the product with them and
 *     of the subtracted maximum (or log-sum-exp), u |s| each: (ceil(D/k) d + 4u) S reach;
 *   exponentials: u (4 + 4.346 distance), as in softmax;
 *   probabilities rounded to bf16, once each and to whichever scale (the maximum's, a tile's, 1 / sum): |e_t| <= u_bf16,
 *     so at most u_bf16 A, and with independent e_t 6 u_bf16 B: their rms is at most u_bf16 / sqrt(3), so 10 deviations;
 *     a common part is the denominator's: u_bf16 o at most, and 6 u_bf16 C o where they are independent.
 *     Merging by log-sum-exp adds 60u to e_t, which is less than 2^-9 of this;
 *   values: ceil(L/k) d max(o, B) (T2; equal signs make it T1); the denominator min(8 L u, 2^-12); a division.
 *
 * DATA_ANY: scores are often equal, and so are their weights' roundings: e_t = e(s_t) has the values of groups of
 * tokens, and sum e_t w_t v_t = sum_g e_g S_g. Signs of values are random, so the S_g of a group or a split deviate
 * by ||w v||_g about w_g out: 6 u_bf16 B (two groups of opposite e_g: 6 deviations) and u_bf16 o in common.
 * DATA_EXACT: one token has all the weight, p = 1 and nothing rounds but what a fused exp2(s c - max c) leaves of its
 * exponent, u |s|; or all weights are 1, and 1 / L, or 1 / (tokens of a split), is rounded as above. Dot products are
 * exact; values are 0 or of one size, but for a few, so that not more than 2 (A / B)^2 of them are added. */
REF_FN double paged_rounding(const struct ref_context *c, const double *part)
{
    const double norm = 6 * part[PART_NORM], weights = 6 * part[PART_WEIGHT_NORM];
    const double common = c->data == DATA_SIGN_RANDOM && weights < 1 ? weights : 1;
    if (c->data == DATA_EXACT && part[PART_WEIGHT_NORM] > 0.9)
        return 0;
    return UNIT_BF16 *
           ((norm < part[PART_WEIGHTED] ? norm : part[PART_WEIGHTED]) + common * part[PART_VALUE]);
}

REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    const double *part = e->part;
    const double out = part[PART_VALUE], reach = part[PART_WEIGHTED] + out, norm = part[PART_NORM];
    const double chain = 8 * part[PART_LENGTH] * UNIT_F32, dim = (double)c->extent[PAGED_DIM];
    const double sum = chain < 0x1p-12 ? chain : 0x1p-12;
    const double division = 8 * UNIT_F32 * out, size = out > norm ? out : norm;
    double score = 4 * UNIT_F32, steps = ceil(part[PART_LENGTH] / a->k);

    if (c->data == DATA_EXACT) {
        const double spread = norm > 0 ? part[PART_WEIGHTED] / norm : 0;
        steps = 2 * spread * spread < steps ? 2 * spread * spread : steps;
    } else {
        score += ceil(dim / a->k) * a->d + 2 * a->operand;
    }
    return score * part[PART_SCORE] * reach +
           UNIT_F32 * (4 * reach + 4.346 * (part[PART_DISTANCE] + part[PART_SPREAD] * out)) +
           paged_rounding(c, part) + (steps * a->d + 2 * a->operand) * size + sum * out + division;
}
