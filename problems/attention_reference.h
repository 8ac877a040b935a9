/* The mathematics shared by problems of softmax attention. A row is one query of one head:
 * out = sum_t w_t v_t / sum_t w_t with w_t = exp(s_t - shift), over the visible tokens t < state->length.
 * Any shift gives the same result; the largest score is used. ATTENTION_QUERY, _KEY and _VALUE are the
 * problem's tensors. Before including this file a problem defines
 *   attention_open(c, row, state)     sets `length`, and the problem's own state->place
 *   attention_key(c, state, t)        offset of the key of token t
 *   attention_value(c, key)           offset of the value whose key is at offset `key`
 *   attention_factor(c)               the common factor of all scores: their scale or its reciprocal
 *   attention_score(dot, factor)      the score of a token from its q . k
 *   attention_dim(c), attention_capacity(c)   elements of a query; maximum number of tokens of a row */

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
#define REF_STORED (PART_WEIGHT_NORM + 1)

struct ref_state {
    struct attention_place place; /* defined by the problem */
    int64_t length;
    num sum;
    double max;           /* the largest score, which the weights are relative to */
    double weight_norm;   /* ||w||_2 / sum w */
    double mean_distance; /* sum w (max s - s) / sum w */
    double score_size;    /* largest max(|s|, ||q k||_2 scale) over the tokens */
};

REF_FN void attention_open(const struct ref_context *c, int64_t row, struct ref_state *state);
REF_FN int64_t attention_key(const struct ref_context *c, const struct ref_state *state, int64_t t);
REF_FN int64_t attention_value(const struct ref_context *c, int64_t key);
REF_FN num attention_factor(const struct ref_context *c);
REF_FN num attention_score(num dot, num factor);
REF_FN int64_t attention_dim(const struct ref_context *c);
REF_FN int64_t attention_capacity(const struct ref_context *c);

/* Three numbers per token: its weight, the distance of its score below the largest, and the offset of its
 * key. */
REF_FN int64_t ref_scratch(const struct ref_context *c)
{
    return 3 * attention_capacity(c);
}

/* The score of a token from its q . k. *size is max(|s|, ||q k||_2 scale), which its accumulation error is
 * proportional to (T2). */
REF_FN num attention_sized(const struct acc *dot, num factor, double *size)
{
    const num score = attention_score(acc_num(dot, 0), factor);
    const double norm = num_mid(attention_score(num_of(sqrt(dot->square)), factor));
    const double s = fabs(num_mid(score));
    *size = s > norm ? s : norm;
    return score;
}

/* Number of tokens in the next group; REF_GROUP tokens are processed together. */
REF_FN int attention_group(int64_t length, int64_t t)
{
    return length - t < REF_GROUP ? (int)(length - t) : REF_GROUP;
}

/* Computes all scores and key offsets of a row; the state gets the largest score and size. */
REF_FN void attention_scores(const struct ref_context *c, int64_t row, num *scratch, struct ref_state *state)
{
    const int64_t dim = attention_dim(c);
    const num factor = attention_factor(c);
    double max = -INFINITY, largest = 0;

    for (int64_t t = REF_LANE * REF_GROUP; t < state->length; t += REF_LANES * REF_GROUP) {
        const int group = attention_group(state->length, t);
        int64_t key[REF_GROUP] = {0};
        struct acc dot[REF_GROUP];
        for (int i = 0; i < group; i++)
            key[i] = attention_key(c, state, t + i);
        ref_dots_bf16(c, ATTENTION_QUERY, row * dim, ATTENTION_KEY, key, group, dim, dot);
        for (int i = 0; i < group; i++) {
            double size;
            scratch[t + i] = attention_sized(&dot[i], factor, &size);
            scratch[2 * state->length + t + i] = num_of((double)key[i]);
            max = num_mid(scratch[t + i]) > max ? num_mid(scratch[t + i]) : max;
            largest = size > largest ? size : largest;
        }
    }
    state->max = ref_all_max(max);
    state->score_size = ref_all_max(largest);
}

REF_FN void ref_prepare(const struct ref_context *c, int64_t row, num *scratch, struct ref_state *state)
{
    double weighted = 0;
    struct acc sum = acc_zero();

    attention_open(c, row, state);
    attention_scores(c, row, scratch, state);
    for (int64_t t = REF_LANE; t < state->length; t += REF_LANES) {
        const double distance = state->max - num_mid(scratch[t]);
        scratch[t] = num_exp(num_sub(scratch[t], num_of(state->max)));
        scratch[state->length + t] = num_of(distance);
        acc_add(&sum, scratch[t]);
        weighted += num_mid(scratch[t]) * distance;
    }
    ref_all_acc(&sum);
    state->sum = acc_num(&sum, 0);
    state->mean_distance = ref_all_sum(weighted) / num_mid(state->sum);
    state->weight_norm = sqrt(sum.square) / num_mid(state->sum);
    ref_barrier(); /* all lanes need every lane's weights */
}

REF_FN void attention_elements(const struct ref_context *c, int64_t first, int64_t count, const num *scratch,
                               const struct ref_state *state, struct ref_element *e)
{
    /* also sums w |v| (max s - s), since exponentials far below the maximum have larger errors */
    struct block block = block_zero();
    const double total = num_mid(state->sum);
    const int64_t length = state->length;

    for (int64_t t = 0; t < length; t += REF_GROUP) {
        const int group = attention_group(length, t);
        int64_t value[REF_GROUP] = {0};
        double extra[REF_GROUP];
        for (int i = 0; i < group; i++) {
            value[i] = attention_value(c, (int64_t)num_mid(scratch[2 * length + t + i])) + first;
            extra[i] = num_mid(scratch[t + i]) * num_mid(scratch[length + t + i]);
        }
        block_add_bf16(&block, c, &scratch[t], extra, ATTENTION_VALUE, value, group, count);
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

/* Error of a score relative to the size S of scores. The accumulation of D products follows T2. Four
 * roundings of u |s| each follow: the scale, log2 e, the product with them, and the subtracted maximum (or
 * log-sum-exp). Dot products of DATA_EXACT are exact. */
REF_FN double attention_score_error(const struct ref_context *c, const struct arithmetic *a)
{
    const double accumulated = ceil((double)attention_dim(c) / a->k) * a->d + 2 * a->operand;
    return 4 * UNIT_F32 + (c->data == DATA_EXACT ? 0 : accumulated);
}

/* Every relative error e_t of a weight w_t, w_t = p_t / sum p, reaches the output in one of two ways: as
 * sum e_t w_t v_t if the denominator lacks it, else as sum e_t w_t (v_t - out). Let o = |out|, A = sum w |v|,
 * B = ||w v||_2, C = ||w||_2; the reach is A + o. For sums in any order, split and merged in any way:
 *   scores: as above, (ceil(D/k) d + 4u) S reach;
 *   exponentials: u (4 + 4.346 distance), as in softmax;
 *   probabilities rounded to bf16, once each, at any scale (of the maximum, of a tile, 1 / sum):
 *     |e_t| <= u_bf16, so at most u_bf16 A. With independent e_t, 6 u_bf16 B: their rms is at most
 *     u_bf16 / sqrt(3), so this is 10 deviations. A common part belongs to the denominator: at most
 *     u_bf16 o, and 6 u_bf16 C o if independent.
 *     Merging by log-sum-exp adds 60u to e_t, which is less than 2^-9 of this;
 *   values: ceil(L/k) d max(o, B) (T2; equal signs make it T1);
 *   the denominator: min(8 L u, 2^-12); and a division.
 *
 * DATA_ANY: scores are often equal, and then so are the roundings of their weights: e_t = e(s_t) is constant
 * on groups of tokens, and sum e_t w_t v_t = sum_g e_g S_g. Values have random signs, so the S_g of a group
 * or a split deviate by ||w v||_g around w_g out: 6 u_bf16 B (two groups of opposite e_g: 6 deviations) and a
 * common u_bf16 o.
 *
 * DATA_EXACT has two cases. One token may have all the weight: then p = 1, and only a fused exp2(s c - max c)
 * rounds, by u |s| of its exponent. Or all weights are 1, and 1 / L, or 1 / (tokens of a split), rounds as
 * above. Dot products are exact. Almost all values are 0 or of one size, so at most 2 (A / B)^2 of them are
 * added. */
REF_FN double attention_rounding(const struct ref_context *c, const double *part)
{
    const double norm = 6 * part[PART_NORM], weights = 6 * part[PART_WEIGHT_NORM];
    const double common = c->data == DATA_SIGN_RANDOM && weights < 1 ? weights : 1;
    if (c->data == DATA_EXACT && part[PART_WEIGHT_NORM] > 0.9)
        return 0;
    return UNIT_BF16 *
           ((norm < part[PART_WEIGHTED] ? norm : part[PART_WEIGHTED]) + common * part[PART_VALUE]);
}

REF_FN double attention_error(const struct ref_context *c, const struct arithmetic *a,
                              const struct ref_element *e)
{
    const double *part = e->part;
    const double out = part[PART_VALUE], reach = part[PART_WEIGHTED] + out, norm = part[PART_NORM];
    const double chain = 8 * part[PART_LENGTH] * UNIT_F32;
    const double sum = chain < 0x1p-12 ? chain : 0x1p-12;
    const double division = 8 * UNIT_F32 * out, size = out > norm ? out : norm;
    double steps = ceil(part[PART_LENGTH] / a->k);

    if (c->data == DATA_EXACT) {
        const double spread = norm > 0 ? part[PART_WEIGHTED] / norm : 0;
        steps = 2 * spread * spread < steps ? 2 * spread * spread : steps;
    }
    return attention_score_error(c, a) * part[PART_SCORE] * reach +
           UNIT_F32 * (4 * reach + 4.346 * (part[PART_DISTANCE] + part[PART_SPREAD] * out)) +
           attention_rounding(c, part) + (steps * a->d + 2 * a->operand) * size + sum * out + division;
}
