/* paged_attention, the mathematics: out[b,h,:] = sum_t w_t v_t / sum_t w_t with
 * w_t = exp(s_t - shift), s_t = q . k_t / sqrt(D), over the tokens t < seq_lens[b]; token t lies in
 * page block_table[b][t / P], slot t % P. Any shift gives the same result; the largest score is used. */

enum { PAGED_QUERY, PAGED_KV, PAGED_TABLE, PAGED_LENS, PAGED_OUT };
enum { PAGED_BATCH, PAGED_HEADS, PAGED_KV_HEADS, PAGED_DIM, PAGED_PAGE, PAGED_PAGES, PAGED_PER_SEQ };
enum { PART_VALUE, PART_WEIGHTED, PART_NORM, PART_DISTANCE, PART_SPREAD, PART_SCORE, PART_LENGTH,
       PART_WEIGHT_NORM };

struct ref_state {
    int64_t b, kv_head, length;
    num sum;
    double weight_norm;    /* ||w||_2 / sum w */
    double mean_distance;  /* sum w (max s - s) / sum w */
    double score_size;     /* largest max(|s|, ||q k||_2 / sqrt(D)) over the tokens that matter */
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
    return ((page * size + t % size) * c->extent[PAGED_KV_HEADS] + kv_head) * 2 *
           c->extent[PAGED_DIM];
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
 * scales with (T2; for DATA_ANY the sum of magnitudes, T1). */
REF_FN num paged_score(const struct ref_context *c, const struct acc *dot, num root, double *size)
{
    const num score = num_div(acc_num(dot, 0), root);
    const double norm = sqrt(dot->square) / num_mid(root), s = fabs(num_mid(score));
    *size = c->data == DATA_SIGN_RANDOM ? (s > norm ? s : norm) : dot->magnitude / num_mid(root);
    return score;
}

/* Tokens are taken REF_GROUP at a time. */
REF_FN int paged_group(int64_t length, int64_t t)
{
    return length - t < REF_GROUP ? (int)(length - t) : REF_GROUP;
}

REF_FN void ref_prepare(const struct ref_context *c, int64_t row, num *scratch,
                        struct ref_state *state)
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
            scratch[t + i] = paged_score(c, &dot[i], root, &size);
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

/* Relative errors of the weights w_t reach the output as sum w |v - out| / sum w, at most
 * sum w |v| / sum w + |out|:
 *   scores: the accumulation of D products, then the scale's and the shift's roundings, u |s| each;
 *   exponentials: 4 + 4.346 distance, in units u, as in softmax;
 *   bf16 probabilities: u_bf16 each, independently: four times the Euclidean norm (their sum where
 *     equal scores make the roundings agree);
 *   the accumulation of L weighted values; the denominator within min(8 L u, 2^-12); a division.
 * In the exact class every weight is 0 or 1 and every sum exact: one division remains, and a trace of
 * the terms above the enclosure's radius of L 2^-53 of them, so that a sum that cancels to 0 is not
 * beyond what the enclosure can tell; one token is 1/L of them. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a,
                        const struct ref_element *e)
{
    const double *part = e->part;
    const double out = part[PART_VALUE], reach = part[PART_WEIGHTED] + out;
    const double chain = 8 * part[PART_LENGTH] * UNIT_F32, dim = (double)c->extent[PAGED_DIM];
    const double sum = chain < 0x1p-12 ? chain : 0x1p-12;
    const double division = 8 * UNIT_F32 * out;
    double score, exponentials, rounding, values, size;

    if (c->data == DATA_EXACT)
        return division + (0x1p-40 + part[PART_LENGTH] * 0x1p-51) * reach;
    score = (ceil(dim / a->k) * a->d + 4 * UNIT_F32 + 2 * a->operand) * part[PART_SCORE] * reach;
    exponentials = UNIT_F32 * (4 * reach + 4.346 * (part[PART_DISTANCE] + part[PART_SPREAD] * out));
    if (c->data == DATA_ANY) {
        rounding = UNIT_BF16 * reach;
        size = part[PART_WEIGHTED];
    } else {
        rounding = 4 * UNIT_BF16 * (part[PART_NORM] + part[PART_WEIGHT_NORM] * out);
        size = out > part[PART_NORM] ? out : part[PART_NORM];
    }
    values = (ceil(part[PART_LENGTH] / a->k) * a->d + 2 * a->operand) * size;
    return score + exponentials + rounding + values + sum * out + division;
}
