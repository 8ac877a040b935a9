/* kda with switches: how a head goes through its tokens, in chunks or one by one. A part of kda.h. */

KDA_FN float kda_scale(const struct kda_plan *p, int dk)
{
    const float scale = 1.0f / sqrtf((float)dk);
    return p->mutant == SCALE_BF16 ? to_bf16(scale) : p->mutant == SCALE_OFF ? scale * (1 + 0x1p-5f) : scale;
}

/* Output column e of token t. */
KDA_FN void kda_put(const struct kda_plan *p, const struct kda_head *h, int64_t t, int e, float x)
{
    const int64_t at = t * h->heads * h->dv + e;
    switch (p->mutant) {
    case OUT_7: x *= 1 + 0x1p-7f; break;
    case OUT_9: x *= 1 + 0x1p-9f; break;
    case OUT_11: x *= 1 + 0x1p-11f; break;
    case OUT_TRUNCATED: x = keep_bits(x, 8, true); break;
    case OUT_TWICE: x = to_fp16(x); break;
    case OUT_THOUSANDTH: x *= (h->first + at) % 1000 == 7 ? 1 + 0x1p-8f : 1; break;
    default: break;
    }
    h->o[at] = (uint16_t)(bits_of(to_bf16(x)) >> 16);
    if (h->unrounded)
        h->unrounded[at] = x;
}

/* Loads tokens t..t + count - 1 into rows 0..; the rest of the chunk is 0. */
KDA_FN void kda_load(const struct kda_plan *p, struct kda_work *c, const struct kda_head *h, int64_t t,
                     int count)
{
    const float scale = p->scale == SCALE_FIRST ? kda_scale(p, h->dk) : 1;
    KDA_SYNC();
    KDA_EACH(x, p->chunk * h->dk)
    {
        const int i = x / h->dk, d = x % h->dk;
        const int64_t at = (t + i) * h->heads * h->dk + d;
        float q = i < count ? kda_bf16(h->q[at]) : 0, k = i < count ? kda_bf16(h->k[at]) : 0;
        if (p->mutant == QUERY_4_BITS)
            q = keep_bits(q, 4, false);
        if (p->mutant == KEY_7_BITS)
            k = keep_bits(k, 7, false);
        c->q[i][d] = q * scale;
        c->k[i][d] = k;
        c->gate[i][d] = i < count ? kda_gate(p, h->g[at]) : 0;
        if (p->mutant == TAIL_DECAYED && count < p->chunk && i == count - 1)
            c->gate[i][d] *= 2;
    }
    KDA_EACH(x, p->chunk * h->dv)
    {
        const int i = x / h->dv, e = x % h->dv;
        const float v = i < count ? kda_bf16(h->v[(t + i) * h->heads * h->dv + e]) : 0;
        c->v[i][e] = p->mutant == VALUE_7_BITS ? keep_bits(v, 7, false) : v;
    }
    KDA_EACH(i, p->chunk)
    {
        const float beta = i < count ? kda_bf16(h->beta[(t + i) * h->heads]) : 0;
        c->beta[i] = p->mutant == BETA_4_BITS ? keep_bits(beta, 4, false) : beta;
    }
    KDA_SYNC();
}

/* --- a chunk --- */

/* e^G k, with beta where it is on the right side, and the state as an operand. */
KDA_FN void kda_operands(const struct kda_plan *p, struct kda_work *c, const struct kda_head *h)
{
    const bool right = p->beta == BETA_RIGHT && !p->residual;
    KDA_EACH(x, p->chunk * h->dk)
    {
        const int i = x / h->dk, d = x % h->dk;
        const float key = c->k[i][d] * kda_exp(p, c->sum[i][d]) * (right ? c->beta[i] : 1);
        c->keys[i][d] = kda_round(p->residual ? p->round_w : p->round_right, key);
    }
    KDA_EACH(x, h->dk * h->dv)
    {
        const float s = (float)c->carried[x / h->dv][x % h->dv];
        c->state[x / h->dv][x % h->dv] =
            p->mutant == STATE_4_BITS ? keep_bits(s, 4, false) : kda_round(p->round_state, s);
    }
    KDA_SYNC();
}

/* V' = U - W S. */
KDA_FN void kda_write_uw(const struct kda_plan *p, struct kda_work *c, const struct kda_head *h)
{
    KDA_EACH(x, p->chunk * h->dv)
    {
        const int i = x / h->dv, e = x % h->dv;
        c->values[i][e] = kda_round(p->round_right, c->v[i][e] * (p->beta == BETA_RIGHT ? c->beta[i] : 1));
    }
    kda_solve(p, c, c->u, c->values, h->dv);
    kda_solve(p, c, c->w, c->keys, h->dk);
    KDA_EACH(x, p->chunk * h->dv)
    c->u[x / h->dv][x % h->dv] = kda_round(p->round_u, c->u[x / h->dv][x % h->dv]);
    KDA_EACH(x, p->chunk * h->dk)
    {
        const float w = -c->w[x / h->dk][x % h->dk];
        c->w[x / h->dk][x % h->dk] =
            p->mutant == W_4_BITS ? keep_bits(w, 4, false) : kda_round(p->round_w, w);
    }
    kda_multiply(p, c, c->u[0], KDA_DIM, c->w[0], KDA_DIM, c->state[0], KDA_DIM, p->chunk, h->dv, h->dk);
}

/* V' = (I + A)^-1 (beta (v - (e^G k) S)). */
KDA_FN void kda_write_residual(const struct kda_plan *p, struct kda_work *c, const struct kda_head *h)
{
    KDA_EACH(x, p->chunk * h->dv)
    c->values[x / h->dv][x % h->dv] = -c->v[x / h->dv][x % h->dv];
    kda_multiply(p, c, c->values[0], KDA_DIM, c->keys[0], KDA_DIM, c->state[0], KDA_DIM, p->chunk, h->dv,
                 h->dk);
    KDA_EACH(x, p->chunk * h->dv)
    {
        const int i = x / h->dv, e = x % h->dv;
        const float r = -c->values[i][e] * (p->beta == BETA_RIGHT ? c->beta[i] : 1);
        c->values[i][e] = kda_round(p->round_right || p->round_u, r);
    }
    kda_solve(p, c, c->u, c->values, h->dv);
}

/* The outputs of `count` tokens from t on. */
KDA_FN void kda_outputs(const struct kda_plan *p, struct kda_work *c, const struct kda_head *h, int64_t t,
                        int count)
{
    const float scale = p->scale == SCALE_FIRST ? 1 : kda_scale(p, h->dk);
    KDA_EACH(x, p->chunk * h->dk)
    {
        const int i = x / h->dk, d = x % h->dk, at = p->mutant == QUERIES_EARLY ? i - 1 : i;
        const float q = c->q[i][d] * kda_exp(p, at < 0 ? 0 : c->sum[at][d]);
        c->left_q[i][d] = kda_round(p->round_queries, p->scale == SCALE_SCORES ? q * scale : q);
    }
    KDA_EACH(x, p->chunk * h->dv)
    c->out[x / h->dv][x % h->dv] = 0;
    kda_multiply(p, c, c->out[0], KDA_DIM, c->left_q[0], KDA_DIM, c->state[0], KDA_DIM, p->chunk, h->dv,
                 h->dk);
    KDA_EACH(x, p->chunk * h->dv)
    c->out[x / h->dv][x % h->dv] = kda_round(p->mutant == INTER_BF16, c->out[x / h->dv][x % h->dv]);
    kda_multiply(p, c, c->out[0], KDA_DIM, c->p[0], KDA_CHUNK, c->u[0], KDA_DIM, p->chunk, h->dv, p->chunk);
    KDA_EACH(x, count * h->dv)
    {
        const float out = c->out[x / h->dv][x % h->dv];
        kda_put(p, h, t + x / h->dv, x % h->dv, p->scale == SCALE_LAST ? out * scale : out);
    }
}

/* S <- e^(G_last) S + (k e^(G_last - G))^T V'. */
KDA_FN void kda_carry(const struct kda_plan *p, struct kda_work *c, const struct kda_head *h, int count)
{
    const int n = p->chunk;
    KDA_SYNC();
    KDA_EACH(x, n * h->dk)
    {
        const int i = x % n, d = x / n, at = p->mutant == KEYS_LATE && i + 1 < n ? i + 1 : i;
        const bool lost = (p->mutant == CHUNK_FIRST && i == 0) || (p->mutant == CHUNK_LAST && i == count - 1);
        const float key = c->k[i][d] * kda_exp(p, c->sum[n - 1][d] - c->sum[at][d]);
        c->right[d][i] = lost ? 0 : kda_round(p->round_queries, key);
    }
    KDA_EACH(x, h->dk * h->dv)
    {
        const int d = x / h->dv, e = x % h->dv;
        const float decay = kda_round(p->mutant == LAST_DECAY_BF16, kda_exp(p, c->sum[n - 1][d]));
        c->carried[d][e] *= (double)decay;
        if (!p->double_state)
            c->carried[d][e] = (float)c->carried[d][e];
        c->add[d][e] = p->double_state ? 0 : (float)c->carried[d][e];
    }
    kda_multiply(p, c, c->add[0], KDA_DIM, c->right[0], KDA_CHUNK, c->u[0], KDA_DIM, h->dk, h->dv, n);
    KDA_EACH(x, h->dk * h->dv)
    {
        const int d = x / h->dv, e = x % h->dv;
        c->carried[d][e] = p->double_state ? c->carried[d][e] + (double)c->add[d][e] : (double)c->add[d][e];
    }
    KDA_SYNC();
}

KDA_FN void kda_chunk(const struct kda_plan *p, struct kda_work *c, const struct kda_head *h, int64_t t)
{
    const int count = h->t - t < p->chunk ? (int)(h->t - t) : p->chunk;
    kda_load(p, c, h, t, count);
    kda_sum_gates(p, c, h->dk);
    kda_scores(p, c, h->dk);
    kda_finish_scores(p, c, kda_scale(p, h->dk));
    kda_invert(p, c, count < p->chunk);
    kda_operands(p, c, h);
    if (p->residual)
        kda_write_residual(p, c, h);
    else
        kda_write_uw(p, c, h);
    KDA_EACH(x, p->chunk * h->dv)
    {
        const int i = x / h->dv, e = x % h->dv;
        c->u[i][e] = kda_round(p->round_new, c->u[i][e] * (p->beta == BETA_AFTER ? c->beta[i] : 1));
    }
    KDA_SYNC();
    kda_outputs(p, c, h, t, count);
    kda_carry(p, c, h, count);
}

/* --- a token --- */

/* The state as a mutant keeps it from token to token. */
KDA_FN float kda_shorten(const struct kda_plan *p, int64_t t, float s)
{
    const int m = p->mutant;
    const int period = m == STATE_BF16_1 || m == STATE_TF32_1 || m == STATE_FP16_1      ? 1
                       : m == STATE_BF16_16 || m == STATE_TF32_16 || m == STATE_FP16_16 ? 16
                       : m == STATE_BF16_32                                             ? 32
                       : m == STATE_BF16_128                                            ? 128
                                                                                        : 64;
    if (m < STATE_BF16_1 || m > STATE_FP16_64 || (t + 1) % period)
        return s;
    return m <= STATE_BF16_128 ? to_bf16(s) : m <= STATE_TF32_64 ? to_tf32(s) : to_fp16(s);
}

/* S <- diag(decay) S, columns e..e + wide - 1, and the operand that it is. */
KDA_FN void kda_token_decay(const struct kda_plan *p, struct kda_work *c, int dk, int e, int wide)
{
    for (int d = 0; d < dk; d++) {
        float decay = kda_exp(p, c->gate[0][d]);
        decay = p->mutant == DECAY_BF16 ? to_bf16(decay) : p->mutant == DECAY_TF32 ? to_tf32(decay) : decay;
        KDA_SIDE_BY_SIDE
        for (int j = e; j < e + wide; j++) {
            const double s = c->carried[d][j] * (double)decay;
            c->carried[d][j] = p->double_state ? s : (float)s;
        }
    }
}

KDA_FN void kda_token_operand(const struct kda_plan *p, struct kda_work *c, int dk, int e, int wide)
{
    for (int d = 0; d < dk; d++)
        for (int j = e; j < e + wide; j++)
            c->state[d][j] = kda_round(p->round_state, (float)c->carried[d][j]);
}

/* S <- S + k r^T; beta is r's already, or goes to k. */
KDA_FN void kda_token_update(const struct kda_plan *p, struct kda_work *c, const float *r, int64_t t, int dk,
                             int e, int wide)
{
    for (int d = 0; d < dk; d++) {
        const float k = kda_round(p->round_right, c->k[0][d] * (p->beta == BETA_INVERSE ? c->beta[0] : 1));
        for (int j = 0; j < wide; j++) {
            const double s = c->carried[d][e + j];
            const double next =
                p->double_state ? s + (double)(k * r[j]) : (double)(float)(s + (double)k * (double)r[j]);
            c->carried[d][e + j] = p->mutant ? kda_shorten(p, t, (float)next) : next;
        }
    }
}

KDA_FN void kda_token_columns(const struct kda_plan *p, struct kda_work *c, const struct kda_head *h,
                              int64_t t, int e, int wide)
{
    const int dk = h->dk, skip = p->mutant == CHANNEL_FIRST, last = dk - (p->mutant == CHANNEL_LAST);
    const float beta = c->beta[0], scale = kda_scale(p, dk);
    float seen[KDA_WIDE], r[KDA_WIDE], out[KDA_WIDE];
    for (int j = 0; j < wide; j++)
        seen[j] = out[j] = 0;
    if (p->mutant == DECAY_LATE) {
        kda_token_operand(p, c, dk, e, wide);
        kda_sum(p, seen, c->k[0], &c->state[0][e], KDA_DIM, dk, wide);
    }
    kda_token_decay(p, c, dk, e, wide);
    kda_token_operand(p, c, dk, e, wide);
    if (p->mutant != DECAY_LATE)
        kda_sum(p, seen, c->k[0] + skip, &c->state[skip][e], KDA_DIM, dk - skip, wide);
    for (int j = 0; j < wide; j++) {
        const float v = c->v[0][e + j];
        r[j] = p->mutant == BETA_VALUE_ONLY ? beta * v - seen[j]
               : p->mutant == BETA_KEY_ONLY ? v - beta * seen[j]
                                            : v - seen[j];
        if (p->beta != BETA_INVERSE && p->mutant != BETA_VALUE_ONLY && p->mutant != BETA_KEY_ONLY)
            r[j] *= beta;
        if (p->mutant == TOKEN_LOST && t == h->t / 2)
            r[j] = 0;
        r[j] = kda_round(p->round_new, r[j]);
    }
    kda_token_update(p, c, r, t, dk, e, wide);
    if (p->mutant != OUT_EARLY)
        kda_token_operand(p, c, dk, e, wide);
    kda_sum(p, out, c->left_q[0], &c->state[0][e], KDA_DIM, last, wide);
    for (int j = 0; j < wide; j++) {
        const float more = p->mutant == CHANNEL_DOUBLED ? c->left_q[0][63] * c->state[63][e + j] : 0;
        kda_put(p, h, t, e + j, p->scale == SCALE_FIRST ? out[j] + more : (out[j] + more) * scale);
    }
}

KDA_FN void kda_token(const struct kda_plan *p, struct kda_work *c, const struct kda_head *h, int64_t t)
{
    const int parts = (h->dv + KDA_WIDE - 1) / KDA_WIDE;
    kda_load(p, c, h, t, 1);
    KDA_EACH(d, h->dk)
    c->left_q[0][d] = kda_round(p->round_queries, c->q[0][d]);
    KDA_SYNC();
    KDA_EACH(x, parts)
    {
        const int e = x * KDA_WIDE, wide = h->dv - e < KDA_WIDE ? h->dv - e : KDA_WIDE;
        kda_token_columns(p, c, h, t, e, wide);
    }
}

/* --- a head --- */

KDA_FN void kda_run(const struct kda_plan *p, struct kda_work *c, const struct kda_head *h)
{
    KDA_SYNC();
    KDA_EACH(x, h->dk * h->dv)
    c->carried[x / h->dv][x % h->dv] = 0;
    for (int64_t t = 0; t < h->t; t += p->chunk)
        if (p->chunk == 1)
            kda_token(p, c, h, t);
        else
            kda_chunk(p, c, h, t);
}

/* Head `index` of all tensors. */
KDA_FN struct kda_head kda_head_of(const uint16_t *q, const uint16_t *k, const uint16_t *v, const float *g,
                                   const uint16_t *beta, uint16_t *o, double *unrounded, int64_t t,
                                   int64_t heads, int64_t dk, int64_t dv, int64_t index)
{
    const int64_t row = index / heads * t * heads + index % heads; /* index in [batch, t, heads] */
    struct kda_head h;
    h.q = q + row * dk;
    h.k = k + row * dk;
    h.v = v + row * dv;
    h.g = g + row * dk;
    h.beta = beta + row;
    h.o = o + row * dv;
    h.unrounded = unrounded ? unrounded + row * dv : NULL;
    h.t = t;
    h.heads = heads;
    h.first = row * dv;
    h.dk = (int)dk;
    h.dv = (int)dv;
    return h;
}
